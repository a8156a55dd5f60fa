//! Two processes with a leader election, of which the leader dies, is stopped or cut off, again and again, while
//! parents change all the time. The audit log of the real control plane says who wrote when.

mod changes;
mod link;
mod log;

use std::{env, time::Duration, time::Instant};

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use operators::crds;
use operetta::supervisor::install_crds;
use operetta_controlplane::{ControlPlane, Options, User};
use operetta_harness::ignore;

use self::{changes::Changes, link::Link};
use crate::{
    cluster::{client_of, or_ignore},
    program::Program,
};

/// How long a hand-over may take.
const DEADLINE: Duration = Duration::from_mins(1);
const LEASE: &str = "operetta";

/// One of the two processes. Its user and host have its name.
struct Side {
    name: &'static str,
    link: Link,
    kubeconfig: String,
    program: Program,
}

/// What happens to a leader.
#[derive(Debug, Clone, Copy)]
enum Mishap {
    Killed,
    Stopped,
    CutOff,
}

const MISHAPS: [Mishap; 3] = [Mishap::Killed, Mishap::Stopped, Mishap::CutOff];

/// `OPERETTA_HAND_OVERS` sets how many hand-overs there are.
#[operetta_harness::test]
async fn no_process_writes_after_another_took_its_lease_and_no_change_is_lost() {
    if env::var("OPERETTA_TEST_CLUSTER").as_deref() != Ok("controlplane") {
        ignore("the audit log of the real control plane is needed");
    }
    let cluster = control_plane().await;
    let client = client_of(cluster.kubeconfig_path()).await;
    install_crds(&client, &crds().unwrap()).await.unwrap();
    let leases: Api<Lease> = Api::namespaced(client.clone(), "default");
    let mut sides = [Side::start(&cluster, "first").await, Side::start(&cluster, "second").await];
    let changes = Changes::begin(&client).await;
    let rounds = env::var("OPERETTA_HAND_OVERS").map_or(3, |rounds| rounds.parse().unwrap());
    let mut times = Vec::new();
    for mishap in MISHAPS.into_iter().cycle().take(rounds) {
        times.push(hand_over(&leases, &mut sides, mishap).await);
    }
    changes.end_when_done().await;
    let events = tokio::task::block_in_place(|| cluster.audit_events()).unwrap();
    let late = log::late_writes(&events);
    assert!(late.is_empty(), "{late:#?}");
    println!("{} hand-overs, each after seconds: {times:.1?}", times.len());
    println!("first write, milliseconds after the Lease: {:.0?}", log::first_writes(&events));
    for side in sides {
        side.program.kill().await;
    }
}

async fn control_plane() -> ControlPlane {
    let user = |name| User::new(name).group("system:masters");
    let options = Options::default().user(user("first")).user(user("second"));
    let start = move || ControlPlane::start_with(&options);
    or_ignore(tokio::task::spawn_blocking(start).await.unwrap())
}

/// Something happens to the leader until the other one leads. Returns after how many seconds that was.
async fn hand_over(leases: &Api<Lease>, sides: &mut [Side; 2], mishap: Mishap) -> f64 {
    let leader = holder(leases, |_| true).await;
    let at = usize::from(sides[1].name == leader);
    let begun = Instant::now();
    match mishap {
        Mishap::Killed => sides[at].program.signal("KILL").await,
        Mishap::Stopped => sides[at].program.signal("STOP").await,
        Mishap::CutOff => sides[at].link.cut(true),
    }
    holder(leases, |name| name == sides[1 - at].name).await;
    let took = begun.elapsed().as_secs_f64();
    match mishap {
        Mishap::Killed => sides[at].restart().await,
        Mishap::Stopped => sides[at].program.signal("CONT").await,
        Mishap::CutOff => sides[at].link.cut(false),
    }
    took
}

/// The host of the holder, once it is right.
async fn holder(leases: &Api<Lease>, is_right: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let lease = leases.get_opt(LEASE).await.unwrap();
        let holder = lease.and_then(|lease| lease.spec).and_then(|spec| spec.holder_identity);
        let host = holder.unwrap_or_default().split('_').next().unwrap_or_default().to_owned();
        if !host.is_empty() && is_right(&host) {
            return host;
        }
        assert!(begun.elapsed() < DEADLINE, "the holder is {host:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Side {
    async fn start(cluster: &ControlPlane, name: &'static str) -> Self {
        let link = Link::to(cluster.server_url()).await;
        let kubeconfig = link.kubeconfig(cluster.kubeconfig_for(name).unwrap());
        let program = program(name, &kubeconfig).await;
        Self { name, link, kubeconfig, program }
    }

    async fn restart(&mut self) {
        self.program = program(self.name, &self.kubeconfig).await;
    }
}

/// A process that is ready.
async fn program(name: &str, kubeconfig: &str) -> Program {
    let flags = [
        "--cluster",
        "kubeconfig",
        "--kubeconfig",
        kubeconfig,
        "--leader-elect=default/operetta",
        "--leader-elect-lease-duration",
        "3",
        "--leader-elect-renew-deadline",
        "2",
        "--leader-elect-retry-period",
        "0.5",
    ];
    let mut program = Program::start_on(name, &flags);
    program.ready().await;
    program
}
