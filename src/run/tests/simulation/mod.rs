//! Ten thousand short lives of a parent, each by a seed: children of several types become ready and fail, the
//! spec changes, others interfere, requests fail, and the process is killed. Each step is random. At each
//! request `checks` holds. Whenever the disturbances stop, the world converges, and nothing more is written.
//!
//! ```text
//! kinds           the types of the children, and their controllers
//! desired         the handler
//! disturbances    changes by others, faults
//! process         the schedule, and the reconcile in progress
//! checks          what must be true of each request
//! rollouts        what must be true of children that are rolled out
//! ```
//!
//! `OPERETTA_SIMULATION_SEED=<n>` runs one seed and prints its events; `OPERETTA_SIMULATION_SEEDS=<n>` that many.

mod checks;
mod desired;
mod disturbances;
mod kinds;
mod process;
mod rollouts;

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::{Duration, Instant},
};

use serde_json::json;

use self::{
    kinds::{Kind, NAMES, Reported},
    process::{Process, Returned},
    rollouts::Rollouts,
};
use super::{
    driver::Driver,
    world::{PARENT_UID, named, parent_type},
};
use crate::{
    object::{Readiness, Uid},
    operator::{ChildConfig, OperatorConfig, Rolling},
    schedule::{Trigger, rng::SeededRng},
};

/// As many as take a few seconds; `.ci/long simulation` has ten thousand.
const SEEDS: u64 = 300;

/// Steps with disturbances.
const DISTURBED: usize = 100;

/// More reconciles than it takes to converge.
const MAX_RECONCILES: usize = 80;

#[test]
fn a_parent_converges_whatever_happens_to_its_children_and_its_process() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    if let Some(seed) = number("OPERETTA_SIMULATION_SEED") {
        live(seed, true);
        return;
    }
    let (began, mut reconciles) = (Instant::now(), 0);
    let seeds = number("OPERETTA_SIMULATION_SEEDS").unwrap_or(SEEDS);
    for seed in 0..seeds {
        match catch_unwind(AssertUnwindSafe(|| live(seed, false))) {
            Ok(ended) => reconciles += ended,
            Err(panic) => {
                eprintln!("failed: run it again with OPERETTA_SIMULATION_SEED={seed}");
                resume_unwind(panic);
            }
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let per_second = f64::from(u32::try_from(reconciles).unwrap()) / seconds;
    println!("figure: {seeds} seeds, {reconciles} reconciles, {per_second:.0} per second");
}

/// Returns the number of reconciles.
fn live(seed: u64, is_traced: bool) -> usize {
    let mut simulation = Simulation::new(SeededRng::seeded(seed), is_traced);
    for _ in 0..DISTURBED {
        simulation.disturbed_step();
    }
    simulation.calm_down();
    simulation.assert_converged();
    simulation.process.reconciles
}

struct Simulation {
    driver: Driver,
    process: Process,
    rollouts: Rollouts,
    /// The most stages of a spec.
    stages: usize,
    rng: SeededRng,
}

impl Simulation {
    fn new(mut rng: SeededRng, is_traced: bool) -> Self {
        let (mut config, mut limits) =
            (OperatorConfig::new("op", parent_type()).without_deletion_limit(), BTreeMap::new());
        for kind in Kind::ALL {
            let child = config_of(kind, &mut rng);
            // So many children of a type as there are here make no share of them more than one.
            limits.extend(child.rolling.map(|rolling| (kind.ty(), rolling.allows(1))));
            config = config.child_of_type(kind.ty(), child);
        }
        let mut driver = Driver::new(config, false);
        driver.caches.spare = rng.below(8);
        let (stages, rollouts) = (1 + rng.below(3), Rollouts::new(limits));
        let spec = desired::random_spec(stages, &mut rng);
        driver.world.put(&named("parent"), &json!({"spec": spec}), "kubectl");
        Self { driver, process: Process::new(is_traced), rollouts, stages, rng }
    }

    /// One random step of the process, the world around it, or both.
    fn disturbed_step(&mut self) {
        let Self { driver, process, rollouts, rng, .. } = self;
        driver.wait(Duration::from_millis(10));
        match rng.below(20) {
            0 => disturbances::change(self.stages, &mut driver.world, &mut driver.caches, rng),
            1..4 => disturbances::control(&mut driver.world, rng),
            4 => self.watch_one(),
            5 if rng.once_in(4) => process.kill(driver, rollouts, rng),
            5 => process.fire_timer(driver),
            6 | 7 => process.return_call(match rng.below(20) {
                0 => Returned::WithAnError,
                1 => Returned::TooLate,
                _ => Returned::Well,
            }),
            8..13 => process.answer(driver, rollouts, rng),
            _ => process.deliver(driver),
        }
        self.rollouts.settle(&self.driver.world);
        assert_eq!(self.driver.world.violations, Vec::<String>::new());
    }

    /// The watch of one type delivers its events.
    fn watch_one(&mut self) {
        let types = Kind::ALL.map(Kind::ty);
        let due = types.get(self.rng.below(types.len() + 1)).cloned().unwrap_or_else(parent_type);
        self.driver.caches.watch_some(&self.driver.world, |ty| *ty == due);
        self.process.wake_up(&mut self.driver);
    }

    // === without disturbances ===

    /// Stops the disturbances, removes foreign objects, and waits for convergence.
    fn calm_down(&mut self) {
        self.driver.world.faults.clear();
        self.driver.caches.sync();
        disturbances::resume(&mut self.driver.world);
        for name in NAMES {
            disturbances::finalize(name, &mut self.driver.world);
            if self.is_foreign(name) {
                self.driver.world.delete(&kinds::id(name));
            }
        }
        let before = self.process.reconciles;
        while self.calm_step() {
            let took = self.process.reconciles - before;
            assert!(took <= MAX_RECONCILES, "it does not converge");
        }
    }

    /// Whether anything is left to happen.
    fn calm_step(&mut self) -> bool {
        self.run_on();
        self.driver.caches.watch(&self.driver.world);
        self.process.wake_up(&mut self.driver);
        if self.process.is_running() || self.make_some_ready() {
            return true;
        }
        let rests = self.process.rests();
        self.process.fire_timer(&mut self.driver);
        !rests
    }

    /// The reconcile in progress ends, and those that follow at once.
    fn run_on(&mut self) {
        let Self { driver, process, rollouts, rng, .. } = self;
        while process.is_running() {
            match rng.below(3) {
                0 => process.return_call(Returned::Well),
                1 => process.answer(driver, rollouts, rng),
                _ => process.deliver(driver),
            }
        }
        assert_eq!(self.driver.world.violations, Vec::<String>::new());
    }

    /// About half of the children that are not ready become ready. Returns whether there are any.
    fn make_some_ready(&mut self) -> bool {
        let Self { driver: Driver { world, .. }, rng, .. } = self;
        let is_waiting = |name: &&str| {
            let object = world.object(&kinds::id(name));
            object.is_some_and(|it| !it.is_deleting() && !Readiness::state_of(&it).is_good())
        };
        let waiting: Vec<_> = NAMES.into_iter().filter(is_waiting).collect();
        for name in waiting.iter().filter(|_| rng.once_in(2)) {
            kinds::report(name, Reported::Ready, world);
        }
        !waiting.is_empty()
    }

    /// Whether an object does not belong to the operator: it has another controller, or no watch covers it
    /// and it is not desired.
    fn is_foreign(&self, name: &str) -> bool {
        let Some(object) = self.driver.world.object(&kinds::id(name)) else { return false };
        object.controller() != Some(&Uid::new(PARENT_UID))
            || !(self.driver.caches.settings.is_watched(&object)
                || self.wanted().contains_key(name))
    }

    fn wanted(&self) -> BTreeMap<String, String> {
        let spec = &self.driver.world.get(&named("parent")).unwrap()["spec"];
        desired::wanted(spec).into_iter().map(|wanted| (wanted.name, wanted.value)).collect()
    }

    fn assert_converged(&mut self) {
        let world = &self.driver.world;
        let value = |name: &str| kinds::value_of(&world.object(&kinds::id(name))?);
        let there = NAMES.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?)));
        assert_eq!(there.collect::<BTreeMap<_, _>>(), self.wanted());
        let parent = world.get(&named("parent")).unwrap();
        for (at, ty) in ["Synced", "Ready"].into_iter().enumerate() {
            let shown = &parent["status"]["conditions"][at];
            assert_eq!((&shown["type"], &shown["status"]), (&json!(ty), &json!("True")));
        }
        let before = world.writes;
        self.process.touch(Trigger::Asked, &mut self.driver);
        self.run_on();
        assert_eq!(self.driver.world.writes, before, "nothing differs");
    }
}

/// How the children of a type are treated in this life.
fn config_of(kind: Kind, rng: &mut SeededRng) -> ChildConfig {
    let config = match (kind, rng.below(3)) {
        (Kind::Pod, 0 | 1) | (_, 0) => ChildConfig::recreate(),
        _ => ChildConfig::apply(),
    };
    let rolling = match rng.below(4) {
        0 => return config,
        1 => Rolling::max_unavailable_percent(50),
        2 => Rolling::max_unavailable(1),
        _ => Rolling::max_unavailable(2),
    };
    config.rolling(rolling.stopping_after(rng.pick(&[1, 2])))
}
