//! Resident memory per parent with its two children, from a process that runs the operator and
//! nothing else: the slope between two numbers of parents. Its floor is the JSON that it caches.

use std::{fs, path::Path, process::Stdio, time::Duration};

use ::operators::echo_server;
use anyhow::{Context, Result};
use kube::{Client, config::Kubeconfig};
use operetta::object::{KeptManagers, Object};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{
    Settings,
    cluster::{self, Cluster},
    operators::Operators,
    parents::{self, ECHO, NAMESPACE},
    table::Row,
};

/// What was in flight when the last parent was done has gone by then.
const AFTERWARDS: Duration = Duration::from_secs(2);

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.client().await?;
    parents::install(&users).await?;
    let kubeconfig = cluster.kubeconfig()?;
    let mut process = OperatorProcess::start(&kubeconfig)?;
    let mut readings = vec![(0, process.resident_with(0).await?)];
    // It holds a credential, and has been read.
    fs::remove_file(kubeconfig)?;
    for (number, size) in settings.sizes.iter().copied().enumerate() {
        let (there, _) = readings[number];
        parents::create_all(&users, ECHO, &format!("echo{number}"), size - there).await?;
        readings.push((size, process.resident_with(size).await?));
        let (parents, kib) = readings[number + 1];
        println!(
            "memory: {kib} KiB resident with {parents} parents ({} KiB with none)",
            readings[0].1
        );
    }
    let cached = cached_bytes(&users).await?;
    process.stop().await?;
    Ok(vec![row(&readings, cached)])
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn row(readings: &[(usize, u64)], cached: usize) -> Row {
    let (few, many) = (readings[readings.len() - 2], readings[readings.len() - 1]);
    let slope = many.1.saturating_sub(few.1) as f64 / many.0.saturating_sub(few.0) as f64;
    let floor = cached as f64 / 1024.0;
    let figure =
        format!("memory per parent with 2 children, {} to {} (floor: JSON)", few.0, many.0);
    let row = Row::new(figure, format!("{slope:.2} KiB")).floor(format!("{floor:.2} KiB"));
    Row { ratio: format!("{:.2}", slope / floor), ..row }
}

/// The JSON of a parent and its children as the operator caches them, on average.
async fn cached_bytes(client: &Client) -> Result<usize> {
    let config = echo_server::config();
    let managers = KeptManagers([config.name.clone()].into());
    let types = config.children.iter().map(|child| &child.ty).chain([&config.parent]);
    let mut bytes = 0;
    for ty in types {
        let items = parents::list(client, &ty.collection_path(Some(NAMESPACE))).await?;
        let ours = items.iter().filter(|item| item["metadata"]["name"] != "kubernetes");
        let sizes: Result<Vec<usize>, _> = ours
            .map(|item| Object::from_value(ty, item, &managers).map(|it| it.json().len()))
            .collect();
        let sizes = sizes?;
        bytes += sizes.iter().sum::<usize>() / sizes.len().max(1);
    }
    Ok(bytes)
}

/// A process that runs the operator, and says how large it is.
struct OperatorProcess {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl OperatorProcess {
    fn start(kubeconfig: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--operators-of")
            .arg(kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let orders = child.stdin.take().context("stdin is piped")?;
        let answers = child.stdout.take().context("stdout is piped")?;
        Ok(Self { child, orders, answers: BufReader::new(answers).lines() })
    }

    /// Its resident memory in KiB once so many parents are done.
    async fn resident_with(&mut self, parents: usize) -> Result<u64> {
        self.orders.write_all(format!("{parents}\n").as_bytes()).await?;
        let answer = self.answers.next_line().await?;
        Ok(answer.context("the operator's process ended")?.parse()?)
    }

    async fn stop(self) -> Result<()> {
        let Self { mut child, orders, .. } = self;
        drop(orders);
        child.wait().await?;
        Ok(())
    }
}

/// The other side: runs the operator until its input ends; a number in the input is answered with
/// the resident memory once so many parents are done.
pub(crate) async fn run_operators(kubeconfig: &Path) -> Result<()> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let connect = Box::new(move || Box::pin(cluster::connect(kubeconfig)) as _);
    let operators = Operators::start(connect).await?;
    let order = || std::io::stdin().lines().next().transpose();
    while let Some(parents) = tokio::task::spawn_blocking(order).await?? {
        operators.until_synced(parents.parse()?).await?;
        tokio::time::sleep(AFTERWARDS).await;
        println!("{}", resident()?);
    }
    operators.stop().await
}

/// This process's resident memory in KiB.
fn resident() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("Linux says it in /proc")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(number.context("/proc/self/status has VmRSS in kB")?.parse()?)
}
