//! Years of several processes and API servers that lag, under a seed. At every instant, each certificate that is served is
//! accepted by each API server.

use std::time::{Duration, SystemTime};

use rustls::{
    RootCertStore,
    client::{verify_server_cert_signed_by_trust_anchor, verify_server_name},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};

use super::decision::{Known, Lifetimes, Rotation};
use crate::{
    recipes::{ServiceNames, TlsData},
    schedule::rng::{SeededRng, with_seeds},
};

const DAY: Duration = Duration::from_hours(24);
/// How late each step of a process, and each API server, may be.
const LAG: Duration = Duration::from_mins(10);

/// A turn of a process, in steps between which the others continue.
enum Step {
    ReadBundle,
    ReadSecret { bundle_version: u64 },
    Write { bundle_version: u64, secret_version: u64, data: TlsData },
    Publish { bundle_version: u64, data: TlsData },
}

struct Process {
    step: Step,
    due: SystemTime,
    serves: Option<TlsData>,
    published: Option<Vec<u8>>,
    look_again: Duration,
}

/// An API server: the bundle that it trusts, and those that it learns of later.
#[derive(Default)]
struct Server {
    trusts: Vec<u8>,
    learns: Vec<(SystemTime, Vec<u8>)>,
}

struct World {
    rng: SeededRng,
    now: SystemTime,
    rotation: Rotation,
    /// Versions begin with one.
    secret: (u64, Option<TlsData>),
    bundle: (u64, Vec<u8>),
    processes: Vec<Process>,
    servers: Vec<Server>,
    writes: usize,
    /// Whether processes are killed between any two of their steps.
    is_deadly: bool,
}

impl Process {
    fn new(due: SystemTime) -> Self {
        Self {
            step: Step::ReadBundle,
            due,
            serves: None,
            published: None,
            look_again: Duration::ZERO,
        }
    }
}

impl World {
    fn new(rng: SeededRng) -> Self {
        Self::with(rng, Lifetimes::default())
    }

    fn with(rng: SeededRng, lifetimes: Lifetimes) -> Self {
        let now = SystemTime::UNIX_EPOCH + 20_000 * DAY;
        let process = || Process::new(now);
        let names = ServiceNames::of("shop", "ns");
        Self {
            rng,
            now,
            rotation: Rotation { names, lifetimes },
            secret: (1, None),
            bundle: (1, Vec::new()),
            processes: vec![process(), process(), process()],
            servers: vec![<_>::default(), <_>::default()],
            writes: 0,
            is_deadly: false,
        }
    }

    fn lag(&mut self) -> Duration {
        LAG * u32::try_from(self.rng.below(1000)).unwrap() / 1000
    }

    /// The next step of the process whose turn it is.
    fn advance(&mut self) {
        let next = (0..self.processes.len()).min_by_key(|at| self.processes[*at].due).unwrap();
        self.now = self.now.max(self.processes[next].due);
        for Server { trusts, learns } in &mut self.servers {
            while learns.first().is_some_and(|(at, _)| *at <= self.now) {
                *trusts = learns.remove(0).1;
            }
        }
        if self.is_deadly && self.rng.once_in(8) {
            return self.kill(next);
        }
        let step = std::mem::replace(&mut self.processes[next].step, Step::ReadBundle);
        let following = self.perform(step, next);
        let rests = following.is_none();
        let wait = if rests { self.processes[next].look_again } else { self.lag() };
        let process = &mut self.processes[next];
        process.due = self.now + wait.max(Duration::from_secs(1));
        process.step = following.unwrap_or(Step::ReadBundle);
        self.check();
    }

    /// What it knew is lost. Another one starts in its place, now or days later.
    fn kill(&mut self, at: usize) {
        let days = u32::try_from(self.rng.below(60)).unwrap();
        let rest = if self.rng.once_in(4) { days * DAY } else { self.lag() };
        self.processes[at] = Process::new(self.now + rest);
    }

    fn perform(&mut self, step: Step, at: usize) -> Option<Step> {
        match step {
            Step::ReadBundle => Some(Step::ReadSecret { bundle_version: self.bundle.0 }),
            Step::ReadSecret { bundle_version } => {
                let process = &self.processes[at];
                let known = Known {
                    secret: self.secret.1.as_ref(),
                    before: process.serves.as_ref(),
                    published: process.published.as_deref(),
                };
                let decision = self.rotation.decide(known, self.now).unwrap();
                self.processes[at].look_again = decision.look_again;
                Some(match decision.write {
                    Some(data) => {
                        Step::Write { bundle_version, secret_version: self.secret.0, data }
                    }
                    None => self.serve(bundle_version, at),
                })
            }
            Step::Write { bundle_version, secret_version, data } => {
                if secret_version != self.secret.0 {
                    return Some(Step::ReadBundle);
                }
                self.secret = (secret_version + 1, Some(data));
                self.writes += 1;
                self.wake();
                Some(self.serve(bundle_version, at))
            }
            Step::Publish { bundle_version, data } => self.publish(bundle_version, &data, at),
        }
    }

    fn serve(&mut self, bundle_version: u64, at: usize) -> Step {
        let data = self.secret.1.clone().unwrap();
        let mut served = data.clone();
        served.remove("ca.key");
        self.processes[at].serves = Some(served);
        Step::Publish { bundle_version, data }
    }

    fn publish(&mut self, bundle_version: u64, data: &TlsData, at: usize) -> Option<Step> {
        let bundle = &data["ca.crt"].0;
        if self.bundle.1 != *bundle {
            if self.bundle.0 != bundle_version {
                return Some(Step::ReadBundle);
            }
            self.change_bundle(bundle);
        }
        self.processes[at].published = Some(bundle.clone());
        None
    }

    fn change_bundle(&mut self, bundle: &[u8]) {
        self.bundle = (self.bundle.0 + 1, bundle.to_owned());
        for at in 0..self.servers.len() {
            let lag = self.lag();
            let learns = &mut self.servers[at].learns;
            let after = learns.last().map_or(self.now, |(at, _)| *at);
            learns.push(((self.now + lag).max(after), bundle.to_owned()));
        }
        self.wake();
    }

    /// Those that rest notice a change some time later.
    fn wake(&mut self) {
        for at in 0..self.processes.len() {
            let due = self.now + self.lag();
            let process = &mut self.processes[at];
            process.due = process.due.min(due);
        }
    }

    fn check(&self) {
        let served = self.processes.iter().filter_map(|process| process.serves.as_ref());
        for data in served {
            for Server { trusts, .. } in self.servers.iter().filter(|it| !it.trusts.is_empty()) {
                assert!(accepts(trusts, &data["tls.crt"].0, self.now), "refused at {:?}", self.now);
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.processes.iter().any(|process| process.due < end) {
            self.advance();
        }
    }
}

/// As a client of TLS decides, apart from the code of this crate.
fn accepts(bundle: &[u8], certificate: &[u8], now: SystemTime) -> bool {
    let mut roots = RootCertStore::empty();
    for der in CertificateDer::pem_slice_iter(bundle) {
        roots.add(der.unwrap()).unwrap();
    }
    let der = CertificateDer::from_pem_slice(certificate).unwrap();
    let parsed = ParsedCertificate::try_from(&der).unwrap();
    let since = UnixTime::since_unix_epoch(now.duration_since(SystemTime::UNIX_EPOCH).unwrap());
    let algorithms = ring::default_provider().signature_verification_algorithms.all;
    let name = ServerName::try_from("shop.ns.svc").unwrap();
    verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], since, algorithms).is_ok()
        && verify_server_name(&parsed, &name).is_ok()
}

#[test]
fn for_years_every_api_server_accepts_what_every_process_serves() {
    with_seeds(4, |rng| {
        let mut world = World::new(rng);
        world.pass(800 * DAY);
        // 13 serving certificates, and three authorities after the first in three steps each.
        assert!((15..30).contains(&world.writes), "{}", world.writes);
    });
}

#[test]
fn processes_that_are_killed_at_any_step_leave_nothing_that_others_do_not_complete() {
    with_seeds(8, |rng| {
        let mut world = World::new(rng);
        world.is_deadly = true;
        world.pass(800 * DAY);
        world.is_deadly = false;
        world.pass(DAY);
        assert_eq!(world.bundle.1, world.secret.1.as_ref().unwrap()["ca.crt"].0);
        assert!(world.writes > 10, "{}", world.writes);
    });
}

#[test]
#[should_panic(expected = "refused at")]
fn without_an_overlap_something_is_refused() {
    let lifetimes = Lifetimes { overlap: Duration::ZERO, ..Lifetimes::default() };
    let mut world = World::with(SeededRng::seeded(0), lifetimes);
    world.pass(800 * DAY);
}

#[test]
fn a_secret_that_is_deleted_or_damaged_at_any_time_refuses_nothing() {
    with_seeds(4, |rng| {
        let mut world = World::new(rng);
        world.pass(DAY);
        for _ in 0..12 {
            let minutes = Duration::from_mins(world.rng.below(400) as u64);
            let time = if world.rng.once_in(4) { 100 * DAY } else { minutes };
            world.pass(time);
            let (version, secret) = &mut world.secret;
            *version += 1;
            let part = world.rng.pick(&["", "ca.key", "ca.crt", "tls.key", "tls.crt"]);
            match secret {
                Some(data) if !part.is_empty() => _ = data.remove(part),
                _ => *secret = None,
            }
            world.wake();
        }
    });
}

#[test]
fn a_bundle_that_is_emptied_is_put_right() {
    with_seeds(4, |rng| {
        let mut world = World::new(rng);
        world.pass(DAY);
        for _ in 0..5 {
            world.change_bundle(&[]);
            world.pass(DAY);
            assert_eq!(world.bundle.1, world.secret.1.as_ref().unwrap()["ca.crt"].0);
        }
    });
}
