//! A thousand random reconciles of one parent: its spec changes, others change, delete and claim its
//! children, and requests fail, by a seed. Whenever the disturbances stop, the parent converges to what its
//! handler returns, and nothing more is written.
//!
//! Prints the reconciles per second:

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    caches::Caches,
    driver::{Driver, Scenario},
    faults::{Fault, KINDS, Refused},
    script::child,
    world::{PARENT_UID, World, named, parent_type},
};
use crate::{
    journal::Failure,
    object::{Quoted, Uid},
    operator::{ChildConfig, OperatorConfig, SyncRequest, SyncResponse},
    run::{HandlerError, Memory, Method, Response},
    schedule::{
        Action, Input, Policy, Schedule, Trigger, continues_at_once,
        rng::{SeededRng, with_seeds},
    },
};

const RECONCILES: usize = 1000;

/// More reconciles than it takes to converge.
const MAX_WAKES: usize = 60;

#[test]
fn a_parent_converges_after_random_disturbances() {
    let (began, mut reconciles) = (Instant::now(), 0);
    with_seeds(3, |rng| {
        let mut simulation = Simulation::new(rng);
        while simulation.reconciles < RECONCILES {
            simulation.disturb();
            simulation.calm_down();
            simulation.assert_converged();
        }
        reconciles += simulation.reconciles;
    });
    let per_second = f64::from(u32::try_from(reconciles).unwrap()) / began.elapsed().as_secs_f64();
    eprintln!("{reconciles} reconciles, {per_second:.0} per second");
}

struct Simulation {
    driver: Driver,
    scenario: Disturbances,
    schedule: Schedule,
    policy: Policy,
    wake: Option<Instant>,
    reconciles: usize,
}

/// The handler, and the disturbances.
struct Disturbances {
    rng: SeededRng,
    /// Whether disturbances happen.
    is_on: bool,
}

impl Simulation {
    fn new(rng: SeededRng) -> Self {
        let config = OperatorConfig::new("op", parent_type())
            .child_of_type(named("any").ty, ChildConfig::apply());
        let mut driver = Driver::new(config, false);
        driver.world.put(&named("parent"), &json!({"spec": {"children": {}}}), "kubectl");
        let policy = driver.caches.settings.policy();
        let (scenario, schedule) = (Disturbances { rng, is_on: true }, Schedule::new(1));
        Self { driver, scenario, schedule, policy, wake: None, reconciles: 0 }
    }

    /// Disturbs the parent, and reconciles it as it is woken.
    fn disturb(&mut self) {
        // Otherwise the deletion budget of a minute would be used up.
        self.driver.wait(Duration::from_mins(2));
        self.scenario.is_on = true;
        for _ in 0..6 {
            self.scenario.random_change(&mut self.driver.world);
            if self.scenario.rng.once_in(20) {
                (self.driver.memory, self.schedule) = (Memory::default(), Schedule::new(1));
                self.step(Input::Touched(Trigger::Listed));
            }
            if !self.scenario.rng.once_in(4) {
                self.watch();
            }
            if self.scenario.rng.once_in(3) {
                self.fire_timer();
            }
        }
    }

    /// Stops the disturbances, removes foreign objects, and waits for convergence.
    fn calm_down(&mut self) {
        self.scenario.is_on = false;
        self.driver.world.faults.clear();
        let pause = json!({"metadata": {"annotations": {"operetta.dev/paused": null}}});
        self.driver.world.edit(&named("parent"), &pause, "kubectl");
        for name in NAMES {
            if self.is_foreign(name) {
                self.driver.world.delete(&named(name));
            }
        }
        for _ in 0..MAX_WAKES {
            self.watch();
            if !self.fire_timer() {
                return;
            }
        }
        panic!("it does not converge: {:?}", self.schedule.phase());
    }

    /// Whether an object does not belong to the operator: it has another controller, or no watch covers it
    /// and it is not desired.
    fn is_foreign(&self, name: &str) -> bool {
        let Some(object) = self.driver.world.object(&named(name)) else { return false };
        object.controller() != Some(&Uid::new(PARENT_UID))
            || !(self.driver.caches.settings.is_watched(&object)
                || self.wanted().contains_key(name))
    }

    fn wanted(&self) -> BTreeMap<String, String> {
        let parent = self.driver.world.get(&named("parent")).unwrap();
        serde_json::from_value(parent["spec"]["children"].clone()).unwrap()
    }

    fn assert_converged(&mut self) {
        let (world, wanted) = (&self.driver.world, self.wanted());
        let parent = world.get(&named("parent")).unwrap();
        let value = |name: &&str| Some(world.get(&named(name))?["data"]["x"].as_str()?.to_owned());
        let there = NAMES.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?)));
        assert_eq!(there.collect::<BTreeMap<_, _>>(), wanted);
        for (at, ty) in ["Synced", "Ready"].into_iter().enumerate() {
            let shown = &parent["status"]["conditions"][at];
            assert_eq!((&shown["type"], &shown["status"]), (&json!(ty), &json!("True")));
        }
        let before = world.writes;
        self.step(Input::Touched(Trigger::Asked));
        assert_eq!(self.driver.world.writes, before, "nothing differs");
    }

    fn watch(&mut self) {
        self.driver.caches.watch(&self.driver.world);
        if let Some(trigger) = self.driver.caches.touched.take() {
            self.step(Input::Touched(trigger));
        }
    }

    fn fire_timer(&mut self) -> bool {
        let Some(at) = self.wake.take() else { return false };
        self.driver.wait(at.saturating_duration_since(self.driver.now.monotonic));
        self.step(Input::TimerFired);
        true
    }

    /// Steps the schedule, and performs its actions.
    fn step(&mut self, input: Input) {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            match self.schedule.step(input, &self.policy, self.driver.now.monotonic) {
                Action::Enqueue(_) => next = Some(Input::Admitted),
                Action::Reconcile { after_writes } => next = Some(self.reconcile(after_writes)),
                Action::WakeAt(wake) => self.wake = Some(wake.at),
                Action::Rest => self.wake = None,
                Action::Continue => {}
                action @ (Action::Stop | Action::Raise(_)) => panic!("{action:?}"),
            }
        }
    }

    /// As the executor does, on one permit.
    fn reconcile(&mut self, mut after_writes: u32) -> Input {
        loop {
            let report = self.driver.reconcile(after_writes, &mut self.scenario);
            self.reconciles += 1;
            assert_eq!(self.driver.world.violations, Vec::<String>::new());
            if let Some(trigger) = self.driver.caches.touched.take() {
                self.step(Input::Touched(trigger));
            }
            let finished = report.finished(self.driver.caches.settings.config());
            after_writes += 1;
            if !continues_at_once(finished, after_writes, false) {
                return Input::Finished(finished);
            }
            self.step(Input::Continued { saw_all: false });
        }
    }
}

// === disturbances ===

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

impl Disturbances {
    fn random_change(&mut self, world: &mut World) {
        let (name, value) = (self.rng.pick(&NAMES), self.rng.below(3).to_string());
        let id = named(name);
        match self.rng.below(9) {
            0 => self.change_spec(world),
            1 => world.edit(&id, &json!({"data": {"x": value}}), "kubectl"),
            2 => world.edit(&id, &json!({"data": {"x": null, "theirs": value}}), "kubectl"),
            3 => world.delete(&id),
            4 if world.get(&id).is_none() => {
                world.put(&id, &json!({"data": {"x": "theirs"}}), "kubectl");
            }
            5 => {
                let labels = json!({"metadata": {"labels": null}});
                world.edit(&id, &labels, "kubectl");
            }
            6 => {
                let owners = json!({"metadata": {"ownerReferences": null}});
                world.edit(&id, &owners, "kubectl");
            }
            7 if self.rng.once_in(4) => {
                let paused = json!({"metadata": {"annotations": {"operetta.dev/paused": "true"}}});
                world.edit(&named("parent"), &paused, "kubectl");
            }
            _ => self.fault(world),
        }
    }

    fn change_spec(&mut self, world: &mut World) {
        let desired = |rng: &mut SeededRng| match rng.below(4) {
            0 => Value::Null,
            value => json!(value.to_string()),
        };
        let children: Value =
            NAMES.iter().map(|name| ((*name).to_owned(), desired(&mut self.rng))).collect();
        world.edit(&named("parent"), &json!({"spec": {"children": children}}), "kubectl");
    }

    fn fault(&mut self, world: &mut World) {
        let (kind, nth) = (self.rng.pick(&KINDS), 1 + self.rng.below(3));
        let busy = Refused { retry_after: Some(Duration::from_secs(3)), ..Refused::with(429) };
        let fault = match self.rng.below(7) {
            0 => Fault::Lost,
            1 => Fault::Refused(busy),
            2 => Fault::Refused(Refused::with(429)),
            other => Fault::Refused(Refused::with([409, 422, 500, 503][other % 4])),
        };
        world.faults.plan(kind, nth, fault);
    }
}

impl Scenario for Disturbances {
    fn called(&mut self, _: Method, request: &SyncRequest) -> Result<Response, HandlerError> {
        if self.is_on && self.rng.once_in(20) {
            let message = Quoted::new("connection refused");
            let failure = Failure::Handler { message, permanent: false, retry_after: None };
            return Err(failure.into());
        }
        let spec = request.parent.field("spec").unwrap();
        let children = spec["children"].as_object().unwrap();
        let wanted = children.iter().map(|(name, value)| child(name, &json!({"x": value})));
        let response = SyncResponse::status(json!({"phase": children.len().to_string()}));
        Ok(Response::Synced(response.children(wanted).into()))
    }

    fn meanwhile(&mut self, _: &str, world: &mut World, caches: &mut Caches) {
        if self.is_on && self.rng.once_in(15) {
            self.random_change(world);
        }
        if self.is_on && self.rng.once_in(15) {
            caches.watch(world);
        }
    }
}
