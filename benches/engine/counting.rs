//! A process that lists and counts objects with a kube client, and nothing else: the floor of a start. Both its sides.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use kube::{
    Api, Client,
    api::ListParams,
    config::Kubeconfig,
    core::{ApiResource, DynamicObject},
};
use tokio::process::Command;

use crate::{
    cluster::{self, Cluster},
    helper_process::Helper,
    process::cpu_of,
    workload::Workload,
};

/// What a count took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    pub(crate) objects: usize,
    pub(crate) took: Duration,
    pub(crate) cpu: Duration,
}

/// Objects in a page, as an operator asks for them.
const PAGE: u32 = 500;

/// Counts the parents and children of a workload, in a process of its own.
pub(crate) async fn count(cluster: &Cluster, workload: Workload) -> Result<Counted> {
    let workload = workload.to_possible_value().context("every workload has a name")?;
    let kubeconfig = cluster.kubeconfig()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--workload", workload.get_name()]).arg("--counts-of").arg(&kubeconfig);
    let started = Instant::now();
    let mut helper = Helper::start(&mut command).await?;
    cluster.remove(&kubeconfig)?;
    let objects = helper.response().await?.parse()?;
    let (took, cpu) = (started.elapsed(), cpu_of(helper.id()?)?);
    helper.stop().await?;
    Ok(Counted { objects, took, cpu })
}

/// The other side: lists all types at once, prints how many objects there are, and waits for the end of its input.
pub(crate) async fn run(kubeconfig: &Path, workload: Workload) -> Result<()> {
    let client = cluster::connect(Kubeconfig::read_from(kubeconfig)?).await?;
    println!("running");
    let count = |path: String| tokio::spawn(count_of(client.clone(), path));
    let paths = workload.children().into_iter().chain([workload.parent(0).collection()]);
    let counts = futures::future::try_join_all(paths.map(count)).await?;
    println!("{}", counts.into_iter().sum::<Result<usize>>()?);
    tokio::task::spawn_blocking(|| std::io::stdin().lines().next()).await?;
    Ok(())
}

async fn count_of(client: Client, path: String) -> Result<usize> {
    let resource = resource(&path).context("the path of a collection in a namespace")?;
    let api: Api<DynamicObject> = Api::all_with(client, &resource);
    let mut page = ListParams::default().limit(PAGE);
    let mut count = 0;
    loop {
        let list = api.list(&page).await?;
        count += list.items.len();
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(count),
        }
    }
}

/// The type of `/api/v1/namespaces/x/plural` or `/apis/group/version/namespaces/x/plural`.
fn resource(path: &str) -> Option<ApiResource> {
    let (api, rest) = path.trim_start_matches('/').split_once("/namespaces/")?;
    let plural = rest.split('/').nth(1)?.to_owned();
    let (group, version) = match api.split('/').collect::<Vec<_>>()[..] {
        ["api", version] => (String::new(), version.to_owned()),
        ["apis", group, version] => (group.to_owned(), version.to_owned()),
        _ => return None,
    };
    let api_version = api.split_once('/')?.1.to_owned();
    Some(ApiResource { group, version, api_version, kind: String::new(), plural })
}
