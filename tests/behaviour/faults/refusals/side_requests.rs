//! Refusals of other requests than the writes of children and status: live reads before a deletion or
//! creation, dry runs before a recreation, the transfer of ownership, and the last list before the
//! finalizer is removed. While one is refused the operation that depends on it is not done.

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operetta::prelude::*;

use super::*;
use crate::{
    ownership::takeover::leave_child,
    world::{Kind, NAMESPACE, POD, SECRET},
};

const PAUSED: &str = "operetta.dev/paused";

/// The request that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SideRequest {
    /// The live read of a parent before a missing child is created again.
    ReadBeforeCreate,
    /// The live read of a parent before a child that cannot be rebuilt is deleted.
    ReadBeforeDelete,
    /// The dry run of the update of a child that would be recreated.
    DryRunOfUpdate,
    /// The dry run of the new child.
    DryRunOfCreate,
    /// The transfer of the fields of an adopted object.
    Adoption,
    /// The same for a child of a predecessor.
    TakeOver,
    /// The live list of children that Kubernetes does not garbage-collect.
    LastList,
}

/// The codes after which the operation continues, because a later request decides.
fn codes_that_continue(request: SideRequest) -> &'static [u16] {
    match request {
        SideRequest::ReadBeforeCreate | SideRequest::ReadBeforeDelete => &[404],
        SideRequest::DryRunOfUpdate => &[409, 413, 422],
        SideRequest::DryRunOfCreate => &[403, 404, 409, 413, 422],
        SideRequest::Adoption => &[409],
        SideRequest::TakeOver | SideRequest::LastList => &[],
    }
}

impl SideRequest {
    /// The type of the child.
    fn child(self) -> Kind {
        match self {
            Self::ReadBeforeDelete => SECRET,
            Self::DryRunOfUpdate | Self::DryRunOfCreate => POD,
            _ => CONFIG_MAP,
        }
    }

    /// The type whose requests are counted.
    fn about(self) -> &'static str {
        match self {
            Self::ReadBeforeCreate | Self::ReadBeforeDelete => "recipes.test.operetta.dev",
            Self::DryRunOfUpdate | Self::DryRunOfCreate => "pods",
            Self::Adoption | Self::TakeOver | Self::LastList => "configmaps",
        }
    }

    fn rule(self, rule: Rule, name: &str) -> Rule {
        match self {
            Self::ReadBeforeCreate | Self::ReadBeforeDelete => {
                rule.verb("get").resource("recipes").name(name)
            }
            Self::DryRunOfUpdate => rule.verb("patch").resource("pods").name(name),
            // The new child has its own name, and its dry run is the second.
            Self::DryRunOfCreate => rule.verb("patch").resource("pods").from_nth(2),
            // After the refused create and the dry run.
            Self::Adoption => rule.verb("patch").resource("configmaps").name(name).from_nth(3),
            Self::TakeOver => rule.verb("patch").resource("configmaps").name(name),
            Self::LastList => rule.verb("list").resource("configmaps"),
        }
    }

    /// Whether a rule can select the requests of one parent.
    fn can_be_selected(self) -> bool {
        !matches!(self, Self::DryRunOfCreate | Self::LastList)
    }

    fn config(self) -> OperatorConfig {
        let children = match self {
            Self::LastList => ChildConfig::apply().delete_with_finalizer(),
            _ => ChildConfig::apply().adopting(),
        };
        let config = OperatorConfig::new("cook", K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2))
            .child::<ConfigMap>(children)
            .child::<Secret>(ChildConfig::apply())
            .child::<Pod>(ChildConfig::recreate())
            .with_error_backoff(Duration::from_millis(100), Duration::from_mins(1));
        if self == Self::TakeOver { config.succeeding_roperator() } else { config }
    }
}

/// The setup for one kind of request.
struct Setup {
    faults: Faults,
    request: SideRequest,
    elsewhere: String,
}

impl Setup {
    async fn open(request: SideRequest) -> Self {
        let register =
            |builder: SupervisorBuilder| builder.register(request.config(), recipe::handler());
        let faults = Faults::start_as(FaultPlan::new(), register).await;
        let elsewhere = format!("{}-elsewhere", faults.world.namespace);
        faults.world.create(NAMESPACE, json!({"metadata": {"name": elsewhere}})).await;
        Self { faults, request, elsewhere }
    }

    fn world(&self) -> &World {
        &self.faults.world
    }

    /// The desired child before or after the request.
    fn wanted(&self, name: &str, is_before: bool) -> Value {
        let much = if is_before { "little" } else { "much" };
        match self.request {
            SideRequest::DryRunOfUpdate | SideRequest::DryRunOfCreate => json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                "spec": {"containers": [{"name": "main", "image": format!("soup:{much}")}]},
            }),
            SideRequest::ReadBeforeDelete => json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
                "stringData": {"pin": "1234"},
            }),
            SideRequest::LastList => {
                let mut child = config_map(name, json!({"salt": much}));
                child["metadata"]["namespace"] = json!(self.elsewhere);
                child
            }
            _ => config_map(name, json!({"salt": much})),
        }
    }

    fn parent(&self, name: &str, is_before: bool) -> Value {
        recipe(name, &[self.wanted(name, is_before)])
    }

    /// Creates the objects that exist before the request.
    async fn prepare(&self, name: &str) {
        let world = self.world();
        let before = self.wanted(name, true);
        match self.request {
            SideRequest::Adoption => drop(world.apply(CONFIG_MAP, before).await),
            SideRequest::TakeOver => {
                let mut parent = self.parent(name, false);
                parent["metadata"]["annotations"] = json!({PAUSED: "true"});
                let parent = world.apply(RECIPE, parent).await;
                leave_child(world, CONFIG_MAP, &parent, before).await;
            }
            _ => {
                world.apply(RECIPE, self.parent(name, true)).await;
                self.faults.until_settled(name).await;
            }
        }
    }

    /// Triggers the request.
    async fn trigger(&self, name: &str) {
        let world = self.world();
        match self.request {
            SideRequest::ReadBeforeCreate => world.delete(CONFIG_MAP, name).await,
            SideRequest::ReadBeforeDelete => drop(world.apply(RECIPE, recipe(name, &[])).await),
            SideRequest::TakeOver => {
                let resume = json!({"metadata": {"annotations": {PAUSED: null}}});
                world.patch(RECIPE, name, resume).await;
            }
            SideRequest::LastList => world.delete(RECIPE, name).await,
            _ => drop(world.apply(RECIPE, self.parent(name, false)).await),
        }
    }

    async fn child(&self, name: &str) -> Value {
        let is_elsewhere = self.request == SideRequest::LastList;
        let namespace = if is_elsewhere { &self.elsewhere } else { &self.world().namespace };
        let api = self.world().api_in(self.request.child(), Some(namespace));
        serde_json::to_value(api.get_opt(name).await.unwrap()).unwrap()
    }

    /// Refuses one request of one parent: that is reported, and nothing changes until it is accepted.
    async fn refuse(&self, case: &Case, name: &str) {
        let faults = &self.faults;
        self.prepare(name).await;
        let before = self.child(name).await;
        let rule = faults.plan.add(self.request.rule(Rule::new(case.fault.clone()), name));
        self.trigger(name).await;
        until_hits(&rule, 1).await;
        faults.until_shown(name, case.message).await;
        faults.until_not_ready(name, case.message).await;
        faults.until_warned(name, case.message).await;
        case.until_counted(faults, self.request.about()).await;
        react(faults, case, &rule, name).await;
        let meanwhile = self.child(name).await;
        if self.request == SideRequest::ReadBeforeCreate {
            assert!(meanwhile.is_null(), "{name}: {meanwhile}");
        } else {
            assert_eq!(meanwhile, before, "{name}: it is not modified");
        }
        rule.end();
        if case.reaction == Reaction::Rests {
            faults.touch(name).await;
        }
        self.until_done(&before, name).await;
    }

    /// Waits until the operation is done.
    async fn until_done(&self, before: &Value, name: &str) {
        let (faults, world) = (&self.faults, self.world());
        if self.request == SideRequest::LastList {
            world.until(RECIPE, name, "the parent gone", Value::is_null).await;
            return assert!(self.child(name).await.is_null(), "{name}");
        }
        let parent = faults.until_settled(name).await;
        let child = self.child(name).await;
        let is_same = child["metadata"]["uid"] == before["metadata"]["uid"];
        match self.request {
            SideRequest::ReadBeforeDelete => assert!(child.is_null(), "{name}"),
            SideRequest::ReadBeforeCreate => assert_eq!(child["data"]["salt"], "little", "{name}"),
            SideRequest::DryRunOfUpdate | SideRequest::DryRunOfCreate => {
                assert_eq!(child["spec"]["containers"][0]["image"], "soup:much", "{name}");
                assert!(!is_same, "{name}: recreated");
            }
            SideRequest::Adoption | SideRequest::TakeOver | SideRequest::LastList => {
                assert_eq!(child["data"], json!({"salt": "much"}), "{name}");
                let owner = &child["metadata"]["ownerReferences"][0]["uid"];
                assert!(is_same && *owner == parent["metadata"]["uid"], "{name}: {child}");
            }
        }
    }
}

async fn every_refusal_of(request: SideRequest) {
    let setup = Setup::open(request).await;
    let mut cases = refusals();
    cases.retain(|case| !codes_that_continue(request).contains(&case.code));
    let named = cases.iter().enumerate().map(|(number, case)| (format!("c{number}"), case));
    let of_setup = &setup;
    let each = named.map(|(name, case)| async move { of_setup.refuse(case, &name).await });
    let at_once = if request.can_be_selected() { usize::MAX } else { 1 };
    stream::iter(each).buffer_unordered(at_once).collect::<Vec<()>>().await;
    setup.faults.world.delete(NAMESPACE, &setup.elsewhere).await;
    setup.faults.end().await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_live_read_before_a_child_is_created_again_is_reported_and_retried() {
    every_refusal_of(SideRequest::ReadBeforeCreate).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_live_read_before_a_secret_is_deleted_is_reported_and_retried() {
    every_refusal_of(SideRequest::ReadBeforeDelete).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_dry_run_of_an_update_is_reported_and_retried() {
    every_refusal_of(SideRequest::DryRunOfUpdate).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_dry_run_of_a_new_child_is_reported_and_retried() {
    every_refusal_of(SideRequest::DryRunOfCreate).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_ownership_transfer_of_an_adoption_is_reported_and_retried() {
    every_refusal_of(SideRequest::Adoption).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_takeover_from_a_predecessor_is_reported_and_retried() {
    every_refusal_of(SideRequest::TakeOver).await;
}

#[operetta_harness::test]
async fn every_refusal_of_the_list_before_the_finalizer_is_removed_is_reported_and_retried() {
    every_refusal_of(SideRequest::LastList).await;
}
