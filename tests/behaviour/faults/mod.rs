//! Faults between the operators and the API server, and interference by others: nothing is lost, foreign
//! objects are not modified, nothing is written twice, and failures are reported while they last.

mod admission;
mod awaited;
mod credentials;
mod deletions;
mod events;
mod finalizers;
mod lifecycle;
mod lists;
mod lost_ownership;
mod order_of_writes;
mod plugins;
mod random;
mod readiness;
mod recreated;
mod refusals;
mod refused_watches;
mod replies;
mod restored;
mod shutdown;
mod throttled;
mod unavailable;
mod undecodable;
mod watches;

use std::time::Duration;

use operetta::{object::ObjectKey, supervisor::SupervisorBuilder};
use operetta_apiserver::faults::{Armed, Fault, FaultPlan, Refusal, Rule};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE},
    world::{CONFIG_MAP, EVENT, Operators, World, condition, eventually},
};

/// The timeout of anything that a test waits for.
const DEADLINE: Duration = Duration::from_mins(2);

/// How an operator reads lists.
#[derive(Clone, Copy)]
enum Lists {
    Paged,
    Streamed,
}

impl Lists {
    /// Those that the server offers: versions of Kubernetes differ in whether they stream lists by default.
    async fn offered() -> Vec<Self> {
        let is_streaming = World::new().await.streams_lists().await;
        [Self::Paged].into_iter().chain(is_streaming.then_some(Self::Streamed)).collect()
    }

    fn set_up(self, builder: SupervisorBuilder) -> SupervisorBuilder {
        match self {
            Self::Paged => builder,
            Self::Streamed => builder.streaming_lists(),
        }
    }

    /// The verb of the requests.
    fn verb(self) -> &'static str {
        match self {
            Self::Paged => "list",
            Self::Streamed => "watch",
        }
    }
}

/// A world whose operators reach the server through faults, with a foreign object.
struct Faults {
    world: World,
    plan: FaultPlan,
    operators: Operators,
    bystander: Value,
}

impl Faults {
    /// Starts the operator `cook` of recipes behind a plan without rules.
    async fn start() -> Self {
        Self::start_with(FaultPlan::new(), |builder| builder).await
    }

    async fn start_with(
        plan: FaultPlan,
        set_up: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Self {
        Self::start_as(plan, |builder| set_up(cook(builder))).await
    }

    /// Starts operators of the test's choice.
    async fn start_as(
        plan: FaultPlan,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Self {
        let world = World::new().await;
        let bystander = json!({"metadata": {"name": "bystander"}, "data": {"of": "somebody"}});
        let bystander = world.create(CONFIG_MAP, bystander).await;
        let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
        Self { world, plan, operators, bystander }
    }

    /// Restarts the operators behind the same plan.
    async fn restart(self) -> Self {
        self.restart_with(|builder| builder).await
    }

    async fn restart_with(
        self,
        set_up: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Self {
        let Self { world, plan, operators, bystander } = self;
        operators.stop().await;
        let start = |builder| set_up(cook(builder));
        let operators = world.start_over(world.cluster.connector_through(&plan), start).await;
        Self { world, plan, operators, bystander }
    }

    /// Adds a rule for the test's namespace.
    fn add(&self, rule: Rule) -> Armed {
        self.plan.add(rule.namespace(&self.world.namespace))
    }

    /// Waits until the parent is not ready with these words in the message.
    async fn until_not_ready(&self, parent: &str, words: &str) -> Value {
        let is_reported = |parent: &Value| {
            let ready = condition(parent, "Ready");
            let message = ready["message"].as_str().unwrap_or_default();
            ready["status"] == "False" && message.contains(words)
        };
        self.world.until(RECIPE, parent, &format!("{parent}: {words}"), is_reported).await
    }

    /// Waits for a Warning Event about the parent with these words.
    async fn until_warned(&self, parent: &str, words: &str) {
        let is_it = |event: &Value| {
            let note = event["note"].as_str().unwrap_or_default();
            event["type"] == "Warning"
                && event["regarding"]["name"] == parent
                && note.contains(words)
        };
        let what = format!("a Warning Event about {parent}: {words}");
        eventually(&what, || self.world.list(EVENT), |events| events.iter().any(is_it)).await;
    }

    /// Waits until the web endpoint shows this of the parent.
    async fn until_shown(&self, parent: &str, words: &str) {
        let path = format!("/api/v1/operators/cook/parents/{}/{parent}", self.world.namespace);
        let what = format!("{parent} over HTTP: {words}");
        eventually(&what, || self.operators.http(&path), |(_, body)| body.contains(words)).await;
    }

    /// Waits until a metric with these labels has counted something.
    async fn until_counted(&self, metric: &str, labels: &[(&str, &str)]) {
        let is_it = |line: &str| {
            let has = |(name, value): &(&str, &str)| line.contains(&format!("{name}=\"{value}\""));
            line.starts_with(metric) && labels.iter().all(has) && !line.ends_with(" 0")
        };
        let what = format!("{metric} {labels:?}");
        let counts = || self.operators.http("/metrics");
        eventually(&what, counts, |(_, body)| body.lines().any(is_it)).await;
    }

    /// How many failed reconciles are counted.
    async fn failed_reconciles(&self) -> usize {
        let (_, metrics) = self.operators.http("/metrics").await;
        let series = "operetta_reconciles_total{operator=\"cook\",outcome=\"failed\"} ";
        let count = metrics.lines().find_map(|line| line.strip_prefix(series));
        count.map_or(0, |count| count.parse().unwrap())
    }

    /// The errors of failed reconciles in the history of a parent.
    fn failures(&self, parent: &str) -> Vec<String> {
        let key = ObjectKey::namespaced(&self.world.namespace, parent);
        let parent = self.operators.running().board().parent("cook", &key).unwrap();
        parent
            .history
            .newest_first()
            .filter_map(|reconcile| reconcile.error().map(str::to_owned))
            .collect()
    }

    /// Waits until one Event reports that deletions of the parent wait for a type.
    async fn until_deletion_waits(&self, parent: &str, ty: &str) {
        let words = format!("deletion waits until all objects of {ty} are listed");
        self.until_warned(parent, &words).await;
        let events = self.world.list(EVENT).await;
        let is_it = |event: &&Value| {
            event["reason"] == "DeletionWaits" && event["regarding"]["name"] == parent
        };
        let waits: Vec<&Value> = events.iter().filter(is_it).collect();
        assert!(waits.len() == 1 && waits[0]["series"].is_null(), "{waits:#?}");
    }

    /// Waits until it is reported that the versions of a type regressed.
    async fn until_regression_reported(&self, ty: &str) {
        let shown = |path: String, words: String| async move {
            let look = || self.operators.http(&path);
            eventually(&words, look, |(_, body)| body.contains(&words)).await;
        };
        self.until_counted("operetta_version_regressions_total", &[("type", ty)]).await;
        let line = format!("[-]type/{ty} the API server returned an earlier resourceVersion");
        shown("/readyz?verbose".to_owned(), line.clone()).await;
        shown("/readyz/cook?verbose".to_owned(), line).await;
        let cache = format!("/api/v1/cache/{ty}");
        shown(cache.clone(), "\"deletionsHeld\":true".to_owned()).await;
        shown(cache, "\"versionRegressed\":\"".to_owned()).await;
    }

    /// Waits until the parent is synced, in its condition and in its phase, and its reconcile has ended.
    async fn until_settled(&self, parent: &str) -> Value {
        let synced = self.world.until_synced(RECIPE, parent).await;
        self.operators.until_synced("cook", &self.world.namespace, parent).await;
        synced
    }

    /// How many writes of an object reached the server.
    fn writes(&self, resource: &str, name: &str) -> usize {
        let decisions = self.plan.decisions().into_iter();
        decisions
            .filter(|decision| {
                let about = &decision.target;
                let is_about = about.resource == resource && about.name.as_deref() == Some(name);
                let is_write = ["patch", "delete"].contains(&about.verb.as_str());
                is_about && is_write && decision.struck.is_none()
            })
            .count()
    }

    /// Touches the parent, so that it is reconciled at once.
    async fn touch(&self, parent: &str) {
        let note = json!({"metadata": {"annotations": {"look": "again"}}});
        self.world.patch(RECIPE, parent, note).await;
    }

    /// Ends the test and asserts that the foreign object is unchanged.
    async fn end(self) {
        assert_eq!(self.world.get(CONFIG_MAP, "bystander").await, self.bystander);
        self.operators.stop().await;
    }
}

fn cook(builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.register(recipe::config("cook"), recipe::handler())
}

async fn until_hits(rule: &Armed, hits: usize) {
    let reached = tokio::time::timeout(DEADLINE, rule.until_hits(hits)).await;
    reached.unwrap_or_else(|_| panic!("{rule:?}, and {hits} are wanted"));
}
