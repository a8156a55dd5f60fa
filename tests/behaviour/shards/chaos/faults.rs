//! What happens to the replicas, by a seed: each is killed, paused, terminated or cut off, again and again, whatever happens
//! to the others meanwhile.

use std::{
    fmt,
    time::{Duration, Instant},
};

use operetta_harness::random::Random;
use rustix::process::Signal;

use super::replica::{Orders, Replica};
use crate::{link::Link, world::World};

#[derive(Debug, Clone, Copy)]
enum Fault {
    Killed,
    Stopped(Duration),
    Asked,
    CutOff(Duration),
}

/// The place of a replica. When its process ends another one takes the place, with another identity.
pub(super) struct Place {
    number: usize,
    /// How many processes were started here.
    starts: usize,
    link: Link,
    orders: Orders,
    random: Random,
    longest: Duration,
    begun: Instant,
}

impl Place {
    /// `longest` is how long a replica is stopped or cut off.
    pub(super) async fn new(world: &World, number: usize, seed: u64, longest: Duration) -> Self {
        let link = Link::to(&world.cluster).await;
        let orders = Orders {
            kubeconfig: link.kubeconfig(&world.cluster),
            namespace: world.namespace.clone(),
            identity: String::new(),
        };
        let random = Random::new(seed.wrapping_add(1000).wrapping_mul(31 + number as u64));
        Self { number, starts: 0, link, orders, random, longest, begun: Instant::now() }
    }

    pub(super) async fn start(&mut self) -> Replica {
        self.orders.identity = format!("{}{}-{}", super::REPLICA, self.number, self.starts);
        self.starts += 1;
        Replica::start(&self.orders).await
    }

    /// Lets a replica suffer so many faults. At the end it works.
    pub(super) async fn suffer(&mut self, mut replica: Replica, faults: usize) -> Replica {
        for _ in 0..faults {
            let pause = self.up_to(4);
            tokio::time::sleep(pause).await;
            let fault = self.fault();
            let at = self.begun.elapsed().as_secs_f64();
            println!("{at:>6.1} s  {} is {fault}", self.orders.identity);
            replica = self.disturb(replica, fault).await;
        }
        replica
    }

    async fn disturb(&mut self, replica: Replica, fault: Fault) -> Replica {
        match fault {
            Fault::Killed => {
                replica.end(Signal::KILL).await;
                return self.start().await;
            }
            Fault::Asked => {
                replica.end(Signal::TERM).await;
                return self.start().await;
            }
            Fault::Stopped(pause) => {
                replica.signal(Signal::STOP);
                tokio::time::sleep(pause).await;
                replica.signal(Signal::CONT);
            }
            Fault::CutOff(pause) => {
                self.link.cut();
                tokio::time::sleep(pause).await;
                self.link.restore();
            }
        }
        replica
    }

    fn fault(&mut self) -> Fault {
        let pause = self.up_to(self.longest.as_secs());
        match self.random.below(4) {
            0 => Fault::Killed,
            1 => Fault::Stopped(pause),
            2 => Fault::Asked,
            _ => Fault::CutOff(pause),
        }
    }

    /// A time from a second to so many.
    fn up_to(&mut self, seconds: u64) -> Duration {
        let milliseconds = usize::try_from(seconds * 1000 - 999).unwrap();
        Duration::from_millis(1000 + self.random.below(milliseconds) as u64)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed => write!(f, "killed"),
            Self::Stopped(pause) => write!(f, "stopped for {:.1} s", pause.as_secs_f64()),
            Self::Asked => write!(f, "asked to stop"),
            Self::CutOff(pause) => write!(f, "cut off for {:.1} s", pause.as_secs_f64()),
        }
    }
}
