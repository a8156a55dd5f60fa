//! Random changes by others, and random faults of the server. Decides nothing about the machine.

use std::time::Duration;

use serde_json::json;

use super::{
    desired,
    kinds::{self, Kind, NAMES, Reported},
};
use crate::{
    run::tests::{
        caches::Caches,
        faults::{Fault, KINDS, Refused},
        world::{World, named},
    },
    schedule::rng::SeededRng,
};

/// Something changes. A spec has at most so many stages.
pub(super) fn change(stages: usize, world: &mut World, caches: &mut Caches, rng: &mut SeededRng) {
    let (name, value) = (rng.pick(&NAMES), desired::value(rng));
    let id = kinds::id(name);
    match rng.below(16) {
        0 => {
            let spec = desired::random_spec(stages, rng);
            world.edit(&named("parent"), &json!({"spec": spec}), "kubectl");
        }
        1 | 2 | 14 | 15 => {
            let spec = world.get(&named("parent")).map(|parent| parent["spec"].clone());
            let spec = desired::changed_spec(&spec.unwrap_or_default(), rng);
            world.edit(&named("parent"), &json!({"spec": spec}), "kubectl");
        }
        3 => world.edit(&id, &kinds::change(name, &json!({"x": value})), "kubectl"),
        4 => {
            let content = json!({"x": null, "theirs": value});
            world.edit(&id, &kinds::change(name, &content), "kubectl");
        }
        5 | 6 => world.delete(&id),
        7 => {
            // Its next deletion takes time.
            let held = json!({"metadata": {"finalizers": ["example.com/hold"]}});
            world.edit(&id, &held, "kubectl");
        }
        8 if world.get(&id).is_none() => {
            world.put(&id, &kinds::change(name, &json!({"x": "theirs"})), "kubectl");
        }
        9 if rng.once_in(2) => {
            world.edit(&id, &json!({"metadata": {"labels": null}}), "kubectl");
        }
        9 => world.edit(&id, &json!({"metadata": {"ownerReferences": null}}), "kubectl"),
        10 if rng.once_in(2) => caches.unsync_type(rng.pick(&Kind::ALL).ty()),
        10 => caches.sync(),
        11 if rng.once_in(4) => {
            let paused = json!({"metadata": {"annotations": {"operetta.dev/paused": "true"}}});
            world.edit(&named("parent"), &paused, "kubectl");
        }
        11 => resume(world),
        _ => fault(world, rng),
    }
}

/// The parent is not paused any more.
pub(super) fn resume(world: &mut World) {
    let (id, paused) = (named("parent"), json!({"operetta.dev/paused": null}));
    if world.get(&id).is_some_and(|parent| !parent["metadata"]["annotations"].is_null()) {
        world.edit(&id, &json!({"metadata": {"annotations": paused}}), "kubectl");
    }
}

/// A controller reports the state of a child, or a finalizer is removed.
pub(super) fn control(world: &mut World, rng: &mut SeededRng) {
    if rng.once_in(6) {
        return finalize(rng.pick(&NAMES), world);
    }
    let is_there = |name: &&str| world.get(&kinds::id(name)).is_some();
    let there: Vec<_> = NAMES.into_iter().filter(is_there).collect();
    if !there.is_empty() {
        let reported = match rng.below(10) {
            0 => Reported::Failed,
            1 => Reported::Progressing,
            _ => Reported::Ready,
        };
        kinds::report(rng.pick(&there), reported, world);
    }
}

/// The other finalizers of a child are removed.
pub(super) fn finalize(name: &str, world: &mut World) {
    let id = kinds::id(name);
    if world.get(&id).is_some_and(|object| object["metadata"].get("finalizers").is_some()) {
        world.edit(&id, &json!({"metadata": {"finalizers": null}}), "kubectl");
    }
}

fn fault(world: &mut World, rng: &mut SeededRng) {
    let (kind, nth) = (rng.pick(&KINDS), 1 + rng.below(3));
    let busy = Refused { retry_after: Some(Duration::from_secs(3)), ..Refused::with(429) };
    let fault = match rng.below(7) {
        0 | 1 => Fault::Lost,
        2 => Fault::Refused(busy),
        other => Fault::Refused(Refused::with([409, 422, 429, 500, 503][other % 5])),
    };
    world.faults.plan(kind, nth, fault);
}
