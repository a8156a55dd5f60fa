//! One member, with clocks of its own.

use super::{Chance, TIMING, both, caches::Caches};
use crate::election::{
    Lease, SinceBoot,
    shards::{Buckets, Role, ShardAct, ShardInput, Shards},
};

pub(super) struct Member {
    pub(super) name: String,
    shards: Shards,
    pub(super) role: Role,
    pub(super) caches: Caches,
    /// How far its clocks are ahead, in milliseconds.
    boot_ahead: u64,
    wall_ahead: u64,
    pub(super) is_dead: bool,
    pub(super) is_stopped: bool,
    pub(super) cut_until: u64,
    /// When it sees the last change of a Lease so far.
    pub(super) saw: u64,
    /// The number of its last wait.
    pub(super) wait: u64,
    /// By when it ends, if it leaves.
    pub(super) leaves_by: Option<u64>,
    /// What it gets when it continues.
    pub(super) waiting: Vec<ShardInput>,
}

impl Member {
    pub(super) fn new(at: usize, chance: &mut Chance) -> Self {
        let name = format!("operators-{at}");
        Self {
            shards: Shards::new(("ns", "operators"), &name, None, TIMING),
            name,
            role: Role::default(),
            caches: Caches::default(),
            boot_ahead: chance.between(0, 1_000_000),
            wall_ahead: chance.between(0, 1_000_000),
            is_dead: false,
            is_stopped: false,
            cut_until: 0,
            saw: 0,
            wait: 0,
            leaves_by: None,
            waiting: Vec::new(),
        }
    }

    pub(super) fn is_present(&self) -> bool {
        !self.is_dead && self.leaves_by.is_none()
    }

    pub(super) fn step(&mut self, input: ShardInput, now: u64) -> Vec<ShardAct> {
        let now = both(now + self.boot_ahead, now + self.wall_ahead);
        let acts = self.shards.step(input, now);
        self.role = self.shards.role(now);
        acts
    }

    /// Where its fence is open. A dead process writes nothing; one that is stopped has what it had, until it is late.
    pub(super) fn open(&self, now: u64) -> Buckets {
        let is_in_time = self.role.until.is_some_and(|until| self.real(until) > now);
        if is_in_time && !self.is_dead {
            self.role.works.with(self.role.closing)
        } else {
            Buckets::NONE
        }
    }

    pub(super) fn declines(&self) -> bool {
        self.shards.declines()
    }

    pub(super) fn closing_now(&self) -> Buckets {
        self.shards.closing()
    }

    pub(super) fn may_leave(&self, now: u64) -> bool {
        self.shards.may_leave(both(now + self.boot_ahead, 0))
    }

    pub(super) fn release(&mut self, now: u64) -> Option<Lease> {
        self.shards.release(both(now + self.boot_ahead, now + self.wall_ahead))
    }

    pub(super) fn boot(&self, real: u64) -> SinceBoot {
        both(real + self.boot_ahead, 0).boot
    }

    /// The time of the world at a time of its clock.
    pub(super) fn real(&self, at: SinceBoot) -> u64 {
        u64::try_from(at.0.as_millis()).unwrap().saturating_sub(self.boot_ahead)
    }

    pub(super) fn wall_jump(&mut self, chance: &mut Chance) {
        self.wall_ahead = chance.between(0, 100_000_000);
    }
}
