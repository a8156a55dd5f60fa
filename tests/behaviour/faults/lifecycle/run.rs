//! One run of the lifecycle of a parent, and its observed state.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operetta::{object::ObjectKey, prelude::*, testkit::internals::board::ParentPhase};

use super::{
    state::{self, Moment, Objects},
    *,
};
use crate::{
    cleaner::{Answer, Cleaner},
    recipe::{config_map, recipe},
    world::NAMESPACE,
};

/// The user agent of the operators. A test that waits until they have settled asks as another one.
const OURS: &str = "operetta/";

/// The n-th request of its kind in a run.
#[derive(Debug, Clone)]
pub(super) struct Request {
    verb: String,
    resource: String,
    name: Option<String>,
    /// Whether it concerns the other namespace.
    is_elsewhere: bool,
    nth: usize,
}

/// The requests and states of an undisturbed run.
pub(super) struct Record {
    pub(super) requests: Vec<Request>,
    moments: Vec<Moment>,
}

/// A parent `r` with its operator, beside another parent and foreign objects.
pub(super) struct Lifecycle {
    world: World,
    elsewhere: String,
    plan: FaultPlan,
    operators: Option<Operators>,
    foreign: Objects,
    /// How many decisions the plan had before.
    begun: usize,
    disruption: Option<Armed>,
    /// The expected state of an overtaken step.
    overtaken: Option<Moment>,
}

impl Request {
    pub(super) fn is_write(&self) -> bool {
        ["patch", "delete"].contains(&self.verb.as_str())
    }
}

fn config() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply().delete_with_finalizer())
        .child::<Secret>(ChildConfig::apply())
        .child::<Pod>(ChildConfig::recreate())
        .with_error_backoff(Duration::from_millis(20), Duration::from_millis(200))
}

impl Lifecycle {
    pub(super) async fn begin() -> Self {
        let world = World::new().await;
        let elsewhere = format!("{}-elsewhere", world.namespace);
        world.create(NAMESPACE, json!({"metadata": {"name": elsewhere}})).await;
        let (plan, foreign) = (FaultPlan::new(), Objects::new());
        let (operators, disruption, overtaken, begun) = (None, None, None, 0);
        let mut lifecycle =
            Self { world, elsewhere, plan, operators, foreign, begun, disruption, overtaken };
        lifecycle.start().await;
        lifecycle.create_others().await;
        lifecycle.begun = lifecycle.plan.decisions().len();
        lifecycle
    }

    /// Creates objects that no step changes: another parent with its child, and a copy of that child's labels.
    async fn create_others(&mut self) {
        let world = &self.world;
        let other = world.apply(RECIPE, recipe("other", &[config_map("other", json!({}))])).await;
        world.until_ready(RECIPE, "other").await;
        self.operators().until_synced("cook", &world.namespace, "other").await;
        let mut copy = config_map("copy", json!({"of": "somebody"}));
        copy["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "cook",
            "operetta.dev/parent-uid": other["metadata"]["uid"]});
        world.create(CONFIG_MAP, copy).await;
        self.foreign = self.objects().await;
    }

    async fn start(&mut self) {
        let connector = self.world.cluster.connector_through(&self.plan);
        let cleaner = Cleaner::default();
        cleaner.answers(Answer::BacksUp);
        let register = |builder: SupervisorBuilder| builder.register(config(), cleaner);
        self.operators = Some(self.world.start_over(connector, register).await);
    }

    /// Runs every step; after each the state is as in the undisturbed run.
    pub(super) async fn run(&mut self, injection: Option<(&Injection, &Record)>) -> Record {
        if let Some((Injection::At(request, disruption), _)) = injection {
            self.arm(request, *disruption);
        }
        let (mut moments, mut before) = (Vec::new(), self.objects().await);
        for (number, step) in Step::ALL.into_iter().enumerate() {
            let expected = injection.map(|(_, record)| &record.moments[number]);
            let lagging = self.lag(step, injection.map(|(injection, _)| injection));
            if self.overtaken.is_none() {
                step.make(&self.world, &self.elsewhere).await;
            }
            if !lagging.is_empty() {
                self.is_done_within(Duration::from_millis(150), step, expected, &before).await;
                lagging.iter().for_each(Armed::end);
            }
            if let Some((Injection::At(_, disruption), _)) = injection
                && disruption.holds()
                && self.until_struck(step, expected, &before).await
            {
                self.act(*disruption, number, expected).await;
                if self.overtaken.is_some() {
                    continue;
                }
            }
            before = self.rest(step, expected, &before, &mut moments).await;
            self.overtaken = None;
        }
        let has_struck = self.disruption.as_ref().is_none_or(|disruption| disruption.hits() == 1);
        assert!(has_struck, "a request of the undisturbed run was not sent");
        Record { requests: self.requests(), moments }
    }

    fn arm(&mut self, request: &Request, disruption: Disruption) {
        let rule = disruption.at(request).verb(&request.verb).resource(&request.resource);
        let rule = rule.user_agent(OURS).from_nth(request.nth).times(1);
        let namespace = if request.is_elsewhere { &self.elsewhere } else { &self.world.namespace };
        self.disruption = Some(self.plan.add(match &request.name {
            Some(name) => rule.name(name).namespace(namespace),
            None => rule,
        }));
    }

    fn lag(&self, during: Step, injection: Option<&Injection>) -> Vec<Armed> {
        let Some(Injection::Lags(step, watches)) = injection else { return Vec::new() };
        let watches = watches.iter().filter(|_| *step == during);
        let held = |watch: &&str| Rule::new(Fault::HoldFrames).verb("watch").resource(watch);
        watches.map(|watch| self.plan.add(held(watch))).collect()
    }

    /// Whether the held request was sent in this step.
    async fn until_struck(&self, step: Step, expected: Option<&Moment>, before: &Objects) -> bool {
        let Some(disruption) = &self.disruption else { return false };
        let over = || async { disruption.hits() > 0 || self.is_done(step, expected, before).await };
        eventually("the request or the end of the step", over, |over| *over).await;
        let is_struck = disruption.hits() > 0;
        if is_struck {
            until_hits(disruption, 1).await;
        }
        is_struck
    }

    /// Disturbs the run while the request is held.
    async fn act(&mut self, disruption: Disruption, number: usize, expected: Option<&Moment>) {
        let Some(held) = self.disruption.take() else { return };
        if disruption == Disruption::Stopped {
            return self.restart(&held).await;
        }
        if let Some(next) = Step::ALL.get(number + 1) {
            next.make(&self.world, &self.elsewhere).await;
            self.overtaken = expected.cloned();
        }
        held.end();
    }

    /// Restarts the operators as after a crash: no further request reaches the server.
    async fn restart(&mut self, held: &Armed) {
        let verbs = ["get", "list", "patch", "delete", "create"];
        let refused = verbs.map(|verb| self.plan.add(Rule::new(Fault::refuse(503)).verb(verb)));
        held.end();
        self.operators.take().unwrap().stop().await;
        refused.iter().for_each(Armed::end);
        self.start().await;
    }

    /// Waits for the expected state, and asserts that it is stable.
    async fn rest(
        &self,
        step: Step,
        expected: Option<&Moment>,
        before: &Objects,
        moments: &mut Vec<Moment>,
    ) -> Objects {
        let is_done = self.is_done_within(DEADLINE, step, expected, before).await;
        if is_done && step != Step::Delete {
            self.reconcile_twice(step).await;
        }
        let after = self.objects().await;
        let found = Moment::new(before, &self.without_foreign(&after), &self.world.namespace);
        let difference = expected.map_or_else(String::new, |expected| found.difference(expected));
        assert!(self.is_as_expected(step, expected, &found), "after {step:?}: {difference}");
        moments.push(found);
        after
    }

    /// Reconciles twice and asserts that the second reconcile writes nothing. After a lost answer the state
    /// may be right before its reconcile has failed, which the first one waits for.
    async fn reconcile_twice(&self, after: Step) {
        let mut writes = 0;
        for note in ["once", "twice"] {
            writes = self.writes();
            self.reconcile(&format!("{after:?}, {note}")).await;
        }
        assert_eq!(self.writes(), writes, "writes of a second reconcile after {after:?}");
    }

    async fn reconcile(&self, note: &str) {
        self.world.patch(RECIPE, "r", json!({"metadata": {"annotations": {"look": note}}})).await;
        self.operators().settled().await;
        self.operators().until_synced("cook", &self.world.namespace, "r").await;
    }

    async fn is_done_within(
        &self,
        time: Duration,
        step: Step,
        expected: Option<&Moment>,
        before: &Objects,
    ) -> bool {
        let done = async {
            while !self.is_done(step, expected, before).await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(time, done).await.is_ok()
    }

    async fn is_done(&self, step: Step, expected: Option<&Moment>, before: &Objects) -> bool {
        let key = ObjectKey::namespaced(&self.world.namespace, "r");
        let phase = self.operators().running().board().parent("cook", &key);
        let is_at_rest = match phase.map(|parent| parent.phase) {
            Some(phase) => {
                let is_synced = matches!(phase, ParentPhase::Ready | ParentPhase::Synced);
                is_synced && step != Step::Delete
            }
            None => step == Step::Delete,
        };
        if !is_at_rest {
            return false;
        }
        let now = self.without_foreign(&self.objects().await);
        let found = Moment::new(before, &now, &self.world.namespace);
        self.is_as_expected(step, expected, &found)
    }

    fn is_as_expected(&self, step: Step, expected: Option<&Moment>, found: &Moment) -> bool {
        let Some(expected) = expected else { return step.is_done(&found.objects) };
        let before = self.overtaken.as_ref().map(|moment| &moment.survivors);
        let mut stays = expected.survivors.iter();
        expected.objects == found.objects
            && stays.all(|key| {
                found.survivors.contains(key) || before.is_some_and(|before| !before.contains(key))
            })
    }

    /// Ends the run and asserts that foreign objects are unchanged.
    pub(super) async fn end(self) {
        let now = self.objects().await;
        for (key, object) in &self.foreign {
            assert_eq!(now.get(key), Some(object), "{key}");
        }
        self.operators.unwrap().stop().await;
    }

    fn operators(&self) -> &Operators {
        self.operators.as_ref().unwrap()
    }

    async fn objects(&self) -> Objects {
        state::objects(&self.world, &self.elsewhere).await
    }

    fn without_foreign(&self, objects: &Objects) -> Objects {
        let ours = objects.iter().filter(|(key, _)| !self.foreign.contains_key(*key));
        ours.map(|(key, object)| (key.clone(), object.clone())).collect()
    }

    /// The number of writes, without Events, which are sent beside the reconciles.
    fn writes(&self) -> usize {
        self.requests().iter().filter(|request| request.is_write()).count()
    }

    fn requests(&self) -> Vec<Request> {
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        let decisions = self.plan.decisions().into_iter().skip(self.begun);
        let targets = decisions.map(|decision| decision.target).filter(|target| {
            ["get", "list", "patch", "delete"].contains(&target.verb.as_str())
                && !["", "events"].contains(&target.resource.as_str())
                && target.user_agent.contains(OURS)
        });
        let counted = targets.map(|target| {
            let is_elsewhere = target.namespace.as_deref() == Some(&self.elsewhere);
            let (verb, resource, name) = (target.verb, target.resource, target.name);
            let kind = (verb.clone(), resource.clone(), name.clone(), is_elsewhere);
            let nth = seen.entry(kind).and_modify(|count| *count += 1).or_insert(1);
            Request { verb, resource, name, is_elsewhere, nth: *nth }
        });
        counted.collect()
    }
}
