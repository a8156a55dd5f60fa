//! Webhooks: what one adds to a create, and how many reviews and conversions a process answers. The floor of a create is
//! the same create without a webhook; beside both stands a webhook of controller-runtime in the same run. Each webhook is
//! a process of its own, has a typed handler that does nothing, and serves with the same certificate.

mod conversions;
mod creates;
mod peer;
mod reviews;
mod serving;

use std::fs;

use anyhow::Result;

pub(crate) use self::serving::answer;
use self::serving::{Certificate, Serving};
use crate::{cluster::Cluster, settings::Settings, table::Row};

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let certificate = Certificate::make()?;
    let kubeconfig = cluster.kubeconfig()?;
    let mut webhooks = vec![Serving::operetta(&kubeconfig, &certificate).await?];
    let mut rows = Vec::new();
    match peer::program(settings)? {
        Some(program) => webhooks.push(peer::start(&program, &kubeconfig, &certificate).await?),
        None => rows.push(Row::new(peer::NAME, "Go is not installed, and no --peer is named")),
    }
    if matches!(cluster, Cluster::Tls { .. }) {
        // The file holds a credential and has been read.
        fs::remove_file(kubeconfig)?;
    }
    rows.extend(creates::measure(&cluster, &certificate, &mut webhooks, settings).await?);
    rows.extend(reviews::measure(&certificate, &webhooks, settings).await?);
    rows.push(memory(&webhooks)?);
    rows.extend(conversions::measure(&certificate, &webhooks[0], settings).await?);
    for webhook in webhooks {
        webhook.stop().await?;
    }
    Ok(rows)
}

/// After all reviews.
#[expect(clippy::cast_precision_loss, reason = "a size in KiB fits")]
fn memory(webhooks: &[Serving]) -> Result<Row> {
    let sizes = webhooks.iter().map(Serving::resident_kib).collect::<Result<Vec<_>>>()?;
    let mib = |size: &usize| format!("{:.1} MiB", *size as f64 / 1024.0);
    let row =
        Row::new("resident memory of the process (floor: controller-runtime)", mib(&sizes[0]));
    Ok(match sizes.get(1) {
        Some(peer) => row.floor(mib(peer)).ratio(format!("{:.2}", sizes[0] as f64 / *peer as f64)),
        None => row,
    })
}
