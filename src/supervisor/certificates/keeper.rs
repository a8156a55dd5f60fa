//! Keeps what is served and what the API server trusts in step with the Secret, for the life of the process.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use futures::FutureExt;
use futures::future::select_all;
use tokio::{
    runtime::Handle,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    bundle::Callers,
    error::{KeepError, PublishError},
    secret::{Settled, settled},
    shared::SharedCertificates,
};
use crate::{
    cluster::{Cluster, secret_type},
    execute,
    object::{ObjectKey, OneLine},
    recipes::{Rotation, ServiceNames, TlsData, expiry},
    schedule::Backoff,
};

/// Follows the Secret. One for each process.
pub(crate) struct Keeper {
    cluster: Cluster,
    secret: ObjectKey,
    rotation: Rotation,
    shared: SharedCertificates,
    /// What this process serves with.
    before: Option<TlsData>,
    /// What all objects were given.
    published: Option<Vec<u8>>,
    /// What was logged last.
    problem: Option<String>,
}

/// Ends when it is dropped.
pub(crate) struct Kept(#[expect(dead_code, reason = "dropping it ends the task")] JoinSet<()>);

/// What may end the wait for the next turn.
struct Awaited {
    callers: Callers,
    version: Option<String>,
    look_again: Duration,
}

/// Between turns at least, whatever changes.
const PAUSE: Duration = Duration::from_millis(500);
/// How soon is looked again where something failed.
const RETRY: Duration = Duration::from_secs(5);

impl Keeper {
    /// Returns when there is a certificate to serve with. The process that has none yet cannot answer.
    pub(crate) async fn begin(
        shared: SharedCertificates,
        cluster: &Cluster,
    ) -> Result<Self, KeepError> {
        let cluster = cluster.in_the_name_of("webhooks");
        let namespace = cluster.own_namespace().to_owned();
        let names = ServiceNames::of(&shared.service, &namespace);
        let names = shared.settings.names.iter().fold(names, |names, name| names.with(name));
        let mut keeper = Self {
            secret: ObjectKey::namespaced(&namespace, &shared.secret),
            rotation: Rotation { names, lifetimes: shared.settings.lifetimes },
            cluster,
            shared,
            before: None,
            published: None,
            problem: None,
        };
        keeper.turn().await?;
        Ok(keeper)
    }

    pub(crate) fn follow(self, runtime: &Handle) -> Kept {
        let mut tasks = JoinSet::new();
        tasks.spawn_on(self.turns(), runtime);
        Kept(tasks)
    }

    async fn turns(mut self) {
        let seed = RandomState::new().hash_one(());
        loop {
            sleep(PAUSE).await;
            match self.turn().await {
                Ok(awaited) => self.wait(&awaited, seed).await,
                Err(error) => {
                    self.note(Some(error.to_string()));
                    sleep(Backoff::with_jitter(RETRY.min(self.shared.settings.look_every), seed))
                        .await;
                }
            }
        }
    }

    /// Objects are read before the Secret, and written after it, if nobody has written them meanwhile.
    async fn turn(&mut self) -> Result<Awaited, KeepError> {
        let callers = Callers::read(&self.cluster, &self.shared.callers).await;
        let known = (self.before.as_ref(), self.published.as_deref());
        let now = execute::now().wall;
        let settled = settled(&self.cluster, &self.secret, &self.rotation, known, now).await?;
        let Settled { data, version, look_again, problem } = settled;
        self.serve(data)?;
        let problems = self.publish(&callers).await;
        let failed = problem.map(|problem| problem.to_string());
        let all: Vec<String> =
            failed.into_iter().chain(problems.iter().map(ToString::to_string)).collect();
        self.note((!all.is_empty()).then(|| all.join("; ")));
        Ok(Awaited { callers, version, look_again })
    }

    fn serve(&mut self, mut data: TlsData) -> Result<(), KeepError> {
        let part = |name: &str| data.get(name).map(|bytes| bytes.0.as_slice()).unwrap_or_default();
        let replaced = self.shared.certificates.replace(part("tls.crt"), part("tls.key"));
        let is_new =
            replaced.map_err(|why| KeepError::Serve { secret: self.secret.clone(), why })?;
        if is_new {
            tracing::info!(secret = %self.secret, "the webhooks are served with another certificate");
        }
        if let Some((serving, authority)) = expiry(&data) {
            self.cluster.metrics().webhook_certificates(serving, authority);
        }
        // Only the Secret has it.
        data.remove("ca.key");
        self.before = Some(data);
        Ok(())
    }

    async fn publish(&mut self, callers: &Callers) -> Vec<PublishError> {
        let bundle = self.before.as_ref().and_then(|data| data.get("ca.crt"));
        let Some(bundle) = bundle.map(|bundle| bundle.0.clone()) else { return Vec::new() };
        let namespace = self.secret.namespace.as_deref().unwrap_or_default();
        let service = (namespace, self.shared.service.as_str());
        let (problems, have_it) = callers.publish(&self.cluster, service, &bundle).await;
        self.published = have_it.then_some(bundle);
        problems
    }

    /// Logs what is wrong, once for as long as it stays the same.
    fn note(&mut self, problem: Option<String>) {
        match &problem {
            _ if problem == self.problem => {}
            Some(why) => tracing::warn!("certificates of the webhooks: {}", OneLine(why)),
            None => tracing::info!("the certificates of the webhooks are in order again"),
        }
        self.problem = problem;
    }

    /// Until something has changed, or is due.
    async fn wait(&self, awaited: &Awaited, seed: u64) {
        let every = self.shared.settings.look_every;
        let within = Backoff::with_jitter(awaited.look_again.min(every), seed);
        let cluster = &self.cluster;
        let changes = awaited.callers.versions().map(|(caller, version)| {
            let key = ObjectKey::cluster(&caller.name);
            async move { cluster.change(&caller.ty, &key, (version, within)).await }.boxed()
        });
        let (ty, version) = (secret_type(), awaited.version.as_deref());
        let of_secret = cluster.change(&ty, &self.secret, (version, within)).boxed();
        let _ = timeout(within, select_all(changes.chain([of_secret]))).await;
    }
}
