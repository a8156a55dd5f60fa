//! How the program is named and announced, and what its command line takes out of the builder.

#[cfg(feature = "cli")]
use std::collections::BTreeSet;

use super::SupervisorBuilder;
use crate::board::ActivityLimit;
#[cfg(feature = "cli")]
use crate::{
    manifests::WebhookReach,
    operator::{AnyOperator, admission::Webhook, conversion::Versions},
    supervisor::Migration,
};

impl SupervisorBuilder {
    /// Sets the name and version of the program for `/version` and for the `User-Agent` of requests to
    /// the API server, where it precedes the framework and the operator.
    pub fn program(mut self, name: &str, version: &str) -> Self {
        self.program.name = Some((name.to_owned(), version.to_owned()));
        self
    }

    /// Sets how much of what happened the activity on the dashboard keeps in memory: about
    /// how many bytes, and how many entries. The oldest are dropped first. Default is 2,000,000 bytes and 10,000
    /// entries; zero keeps nothing.
    pub fn with_activity_limit(mut self, bytes: usize, entries: usize) -> Self {
        self.program.activity = ActivityLimit { bytes, entries };
        self
    }

    /// The name and version of the program, where they were set.
    #[cfg(feature = "cli")]
    pub(crate) fn named(&self) -> Option<(String, String)> {
        self.program.name.clone()
    }

    /// Those that were added, which are then no longer.
    #[cfg(feature = "cli")]
    pub(crate) fn take_operators(&mut self) -> Vec<AnyOperator> {
        std::mem::take(&mut self.operators)
    }

    /// The versions of types that were added.
    #[cfg(feature = "cli")]
    pub(crate) fn added_versions(&self) -> &[Versions] {
        &self.webhooks.versions
    }

    /// Whether the leader migrates objects by itself.
    #[cfg(feature = "cli")]
    pub(crate) fn migrates(&self) -> bool {
        self.migration != Migration::ByHand
    }

    /// The webhooks that were added.
    #[cfg(feature = "cli")]
    pub(crate) fn added_webhooks(&self) -> &[Webhook] {
        &self.webhooks.webhooks
    }

    /// The port of the webhooks, where it was set to one.
    #[cfg(feature = "cli")]
    pub(crate) fn webhook_port(&self) -> Option<u16> {
        let (_, port) = self.webhooks.address.as_ref()?.rsplit_once(':')?;
        port.parse().ok().filter(|port| *port != 0)
    }

    /// Leaves the webhooks of these types out, which are named as their CRDs.
    #[cfg(feature = "cli")]
    pub(crate) fn leave_webhooks_out(&mut self, types: &BTreeSet<String>) {
        self.webhooks.retain(|webhook| !types.contains(&webhook.ty.resource_name()));
    }

    /// Leaves out what is of the whole cluster: webhooks, and migrations. The conversions of types stay.
    #[cfg(feature = "cli")]
    pub(crate) fn leave_whole_cluster_out(&mut self) {
        self.migration = Migration::ByHand;
        self.webhooks.retain(|_| false);
    }

    /// Whether it was said how the API server calls the webhooks, where there are any.
    #[cfg(feature = "cli")]
    pub(crate) fn has_callers(&self) -> bool {
        let it = &self.webhooks;
        it.is_empty() || it.url.is_some() || it.service.is_some() || it.tls.is_some()
    }

    /// Answers no webhooks: the API server is to call others.
    #[cfg(feature = "cli")]
    pub(crate) fn webhooks_elsewhere(mut self, reach: WebhookReach) -> Self {
        self.webhooks.elsewhere = Some(reach);
        self
    }

    /// The address at which the API server reaches the webhooks, where it was set.
    #[cfg(feature = "cli")]
    pub(crate) fn reached_at(&self) -> Option<&str> {
        self.webhooks.url.as_deref()
    }

    /// Prints to the standard output, once, when every operator runs or is degraded: the operators, the kubeconfig of an
    /// embedded API server, and the address of the web endpoint. With [`Connect::embedded`](crate::supervisor::Connect::embedded)
    /// this is the default.
    pub fn announce(mut self) -> Self {
        self.is_announced = true;
        self
    }
}
