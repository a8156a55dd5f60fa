//! Groups of members that come, go, stop, are cut off and are edited by hand, each group by a seed, without I/O.
//!
//! At each moment at most one member may write in a bucket, and it has the objects of the bucket in its caches. When the
//! disturbances end, each bucket has a member within the lease duration and the renew deadline; a minute later, if one of the
//! members cannot complete its caches.
//!
//! - `member`, `caches`: a process;
//! - `server`: the Leases;
//! - `disturbances`: what happens to members.
//!
//! `OPERETTA_SIMULATION_SEED=<n>` runs one seed and prints its events; `OPERETTA_SIMULATION_SEEDS=<n>` that many.

mod caches;
mod chance;
mod disturbances;
mod member;
mod server;

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use chance::Chance;
use member::Member;
use server::Server;

use super::{Buckets, ShardAct, ShardInput};
use crate::election::{Lease, Now, SinceBoot, Timing};

const TIMING: Timing = Timing {
    lease: Duration::from_secs(15),
    renew_deadline: Duration::from_secs(10),
    retry: Duration::from_secs(2),
};

/// As many as take a few seconds; `.ci/long simulation` has ten thousand.
const SEEDS: u64 = 200;

/// For how many milliseconds a group is disturbed, and how long it then has.
const DISTURBED: u64 = 90_000;
const QUIET: u64 = 26_000;

/// How much longer if a member cannot complete its caches: it declines its share after a minute.
const BLOCKED: u64 = 64_000;

/// How long a request waits for its answer.
const PATIENCE: u64 = 5_000;

/// What happens at a time, to one member.
#[derive(Debug, Clone)]
enum Event {
    /// A request arrives at the server.
    Arrives(Request),
    Input(ShardInput),
    /// The time of the last wait, if it was not replaced.
    Due(u64),
    Resumes,
    Disturbs,
    /// Fewer buckets have been wanted for a while.
    Narrows,
    /// A type could not be listed for a minute, after so many changes of what is watched.
    Fails(u64),
    /// All types were listed after so many changes of what is watched.
    Listed(u64),
    /// The caches can be completed again.
    Unblocks,
}

#[derive(Debug, Clone)]
enum Request {
    Write(Lease, u64),
    List,
    Remove(String, Lease),
}

struct World {
    chance: Chance,
    now: u64,
    /// By time and order.
    events: BTreeMap<(u64, u64), (usize, Event)>,
    count: u64,
    server: Server,
    members: Vec<Member>,
    /// Whether Leases are edited and deleted by hand. Then no member is stopped or cut off.
    is_edited: bool,
    /// Whether a member never completes its caches any more.
    has_blocked: bool,
    prints: bool,
}

#[test]
fn at_most_one_member_writes_in_a_bucket_and_each_bucket_gets_one() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    if let Some(seed) = number("OPERETTA_SIMULATION_SEED") {
        return World::new(seed, true).live();
    }
    for seed in 0..number("OPERETTA_SIMULATION_SEEDS").unwrap_or(SEEDS) {
        World::new(seed, false).live();
    }
}

impl World {
    fn new(seed: u64, prints: bool) -> Self {
        let mut world = Self {
            chance: Chance::of(seed),
            now: 0,
            events: BTreeMap::new(),
            count: 0,
            server: Server::default(),
            members: Vec::new(),
            is_edited: seed % 2 == 1,
            has_blocked: false,
            prints,
        };
        for _ in 0..world.chance.between(1, 5) {
            world.join();
        }
        world.after(world.now, 0, Event::Disturbs);
        world
    }

    fn live(mut self) {
        self.pass_until(DISTURBED);
        let quiet = if self.has_blocked { QUIET + BLOCKED } else { QUIET };
        self.pass_until(DISTURBED + quiet);
        let missing = Buckets::ALL.without(self.owned());
        let is_there = self.present().any(|at| !self.members[at].caches.is_blocked);
        assert!(missing.is_empty() || !is_there, "{}: nobody has {missing}", self.seed());
        self.pass_until(DISTURBED + quiet + QUIET);
        let takers = self.present().filter(|at| !self.members[*at].declines());
        let shares: Vec<u32> = takers.map(|at| self.members[at].role.works.len()).collect();
        let most = 64_u32.div_ceil(u32::try_from(shares.len().max(1)).unwrap());
        assert!(shares.iter().all(|share| *share <= most), "{}: {shares:?}", self.seed());
        let decliners = self.present().filter(|at| self.members[*at].declines());
        let are_blocked = decliners.into_iter().all(|at| self.members[at].caches.is_blocked);
        assert!(are_blocked, "{}: one declines that has all", self.seed());
    }

    fn pass_until(&mut self, end: u64) {
        while self.now < end {
            self.next();
            self.check();
        }
    }

    fn seed(&self) -> String {
        format!("OPERETTA_SIMULATION_SEED={} at {} ms", self.chance.seed, self.now)
    }

    fn after(&mut self, delay: u64, member: usize, event: Event) {
        self.count += 1;
        self.events.insert((self.now + delay, self.count), (member, event));
    }

    fn next(&mut self) {
        let Some(((at, _), (member, event))) = self.events.pop_first() else {
            self.now = u64::MAX;
            return;
        };
        self.now = at;
        match event {
            Event::Disturbs => self.disturb(),
            Event::Arrives(request) => self.arrives(member, request),
            Event::Resumes => self.resume(member),
            Event::Due(wait) if self.members[member].wait != wait => {}
            Event::Due(_) => self.input(member, ShardInput::Due),
            Event::Input(input) => self.input(member, input),
            Event::Narrows => self.narrow(member),
            Event::Listed(number) => self.list_ended(member, number),
            Event::Unblocks => self.unblock(member),
            Event::Fails(number) => self.list_fails(member, number),
        }
    }

    /// No two may write in one bucket, and none in one whose objects it does not cache.
    fn check(&self) {
        let mut written = Buckets::NONE;
        for member in &self.members {
            let open = member.open(self.now);
            let shared = written.within(open);
            assert!(shared.is_empty(), "{}: two write in {shared}", self.seed());
            written = written.with(open);
            let missing = open.without(member.caches.complete);
            assert!(missing.is_empty(), "{}: writes without its {missing}", self.seed());
        }
    }

    fn owned(&self) -> Buckets {
        let open = self.members.iter().map(|member| member.open(self.now));
        open.fold(Buckets::NONE, Buckets::with)
    }

    fn present(&self) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(|at| self.members[*at].is_present())
    }
}

// === what members and the server tell each other ===

impl World {
    fn input(&mut self, at: usize, input: ShardInput) {
        let member = &mut self.members[at];
        if member.is_dead {
            return;
        }
        if member.is_stopped {
            member.waiting.push(input);
            return;
        }
        let before = member.role.clone();
        let did_decline = member.declines();
        let acts = member.step(input, self.now);
        if self.prints && (before.works, before.closing) != (member.role.works, member.role.closing)
        {
            let (works, closing) = (member.role.works, member.role.closing);
            println!("{:>7} ms  member {at} works in {works}, closes {closing}", self.now);
        }
        if did_decline != self.members[at].declines() {
            self.print(at, if did_decline { "takes buckets again" } else { "declines" });
        }
        for act in acts {
            self.perform(at, act);
        }
        self.follow(at);
        self.end_closing(at);
        self.end_if_left(at);
    }

    fn perform(&mut self, at: usize, act: ShardAct) {
        let delay = self.latency();
        match act {
            ShardAct::Write(lease) => {
                let sent = self.now;
                self.after(delay, at, Event::Arrives(Request::Write(lease, sent)));
            }
            ShardAct::List => self.after(delay, at, Event::Arrives(Request::List)),
            ShardAct::Remove(name, lease) => {
                self.after(delay, at, Event::Arrives(Request::Remove(name, lease)));
            }
            ShardAct::Wait(until) => {
                let delay = self.members[at].real(until).saturating_sub(self.now);
                self.members[at].wait += 1;
                let wait = self.members[at].wait;
                self.after(delay, at, Event::Due(wait));
            }
        }
    }

    /// Work that is to end does.
    fn end_closing(&mut self, at: usize) {
        let closing = self.members[at].closing_now();
        if !closing.is_empty() {
            let delay = self.chance.between(1, 4_000);
            self.after(delay, at, Event::Input(ShardInput::Idle(closing)));
        }
    }

    fn end_if_left(&mut self, at: usize) {
        let member = &mut self.members[at];
        let Some(by) = member.leaves_by else { return };
        if by > self.now && !member.may_leave(self.now) {
            return;
        }
        let lease = member.release(self.now);
        member.is_dead = true;
        self.print(at, "has left");
        if let Some(lease) = lease {
            let delay = self.latency();
            self.after(delay, at, Event::Arrives(Request::Write(lease, self.now)));
        }
    }

    /// A member that is cut off gets no answer; its requests may arrive nevertheless.
    fn arrives(&mut self, at: usize, request: Request) {
        let is_cut = self.members[at].cut_until > self.now;
        let is_lost = is_cut && self.chance.below(2) == 0;
        if is_lost {
            return self.fails(at, &request);
        }
        let delay = self.latency();
        match request {
            Request::Write(lease, sent) => {
                let (result, events) = self.server.write(&self.members[at].name, &lease);
                self.publish(events);
                let input = match result {
                    Some(lease) => ShardInput::Written { sent: self.members[at].boot(sent), lease },
                    None => ShardInput::Outrun,
                };
                if is_cut || delay > PATIENCE {
                    return self.fails(at, &Request::Write(lease, sent));
                }
                self.after(delay, at, Event::Input(input));
            }
            Request::List if is_cut => self.fails(at, &Request::List),
            Request::List => {
                let (leases, version) = self.server.list();
                self.after(delay, at, Event::Input(ShardInput::Listed { leases, version }));
            }
            Request::Remove(name, lease) => {
                let events = self.server.remove(&name, &lease);
                self.publish(events);
            }
        }
    }

    fn fails(&mut self, at: usize, request: &Request) {
        let input = match request {
            Request::Write(..) => ShardInput::Failed,
            Request::List => ShardInput::Unlisted,
            Request::Remove(..) => return,
        };
        self.after(PATIENCE, at, Event::Input(input));
    }

    /// Each member sees the changes in their order, those that are cut off later.
    fn publish(&mut self, events: Vec<(String, Option<Lease>)>) {
        for (name, lease) in events {
            for at in 0..self.members.len() {
                let earliest = self.members[at].cut_until.max(self.members[at].saw).max(self.now);
                let seen = earliest + self.latency();
                self.members[at].saw = seen;
                let input = match &lease {
                    Some(lease) => ShardInput::Seen(name.clone(), lease.clone()),
                    None => ShardInput::Gone(name.clone()),
                };
                self.after(seen - self.now, at, Event::Input(input));
            }
        }
    }
}

/// Both clocks of a member.
fn both(boot: u64, wall: u64) -> Now {
    let wall = SystemTime::UNIX_EPOCH + Duration::from_millis(wall);
    Now { boot: SinceBoot(Duration::from_millis(boot)), wall }
}
