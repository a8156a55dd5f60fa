//! The requests beside the writes of children and status: the looks before what cannot be undone, the
//! trials before a child is recreated, the hand-over of its fields, and the last list before a
//! finalizer goes. While one is refused nothing is done that it was to make sure of.

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operetta::prelude::*;

use super::*;
use crate::{
    ownership::takeover::leave_child,
    world::{Kind, NAMESPACE, POD},
};

const SECRET: Kind = Kind("v1", "Secret", "secrets");
const PAUSED: &str = "operetta.dev/paused";

/// What is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SideRequest {
    /// The live read of a parent before a child that is missing is created anew.
    LookBeforeCreate,
    /// The live read of a parent before a child goes that cannot be rebuilt.
    LookBeforeDelete,
    /// The trial of the update of a child that is to be recreated.
    TrialOfUpdate,
    /// The trial of what would come instead of it.
    TrialOfCreate,
    /// That the fields of an object become ours which is adopted.
    Adoption,
    /// The same of a child of a predecessor.
    TakeOver,
    /// The live list of what Kubernetes does not collect.
    LastList,
}

/// The codes after which it goes on, as another request finds out more: what is not found, is not as
/// believed, or may not be like that or not be called like that.
fn goes_on(request: SideRequest) -> &'static [u16] {
    match request {
        SideRequest::LookBeforeCreate | SideRequest::LookBeforeDelete => &[404],
        SideRequest::TrialOfUpdate => &[409, 413, 422],
        SideRequest::TrialOfCreate => &[403, 404, 409, 413, 422],
        SideRequest::Adoption => &[409],
        SideRequest::TakeOver | SideRequest::LastList => &[],
    }
}

impl SideRequest {
    /// The child that it is about.
    fn child(self) -> Kind {
        match self {
            Self::LookBeforeDelete => SECRET,
            Self::TrialOfUpdate | Self::TrialOfCreate => POD,
            _ => CONFIG_MAP,
        }
    }

    /// The type whose requests are counted.
    fn about(self) -> &'static str {
        match self {
            Self::LookBeforeCreate | Self::LookBeforeDelete => "recipes.test.operetta.dev",
            Self::TrialOfUpdate | Self::TrialOfCreate => "pods",
            Self::Adoption | Self::TakeOver | Self::LastList => "configmaps",
        }
    }

    fn rule(self, rule: Rule, name: &str) -> Rule {
        match self {
            Self::LookBeforeCreate | Self::LookBeforeDelete => {
                rule.verb("get").resource("recipes").name(name)
            }
            Self::TrialOfUpdate => rule.verb("patch").resource("pods").name(name),
            // It has a name of its own, and comes after the other.
            Self::TrialOfCreate => rule.verb("patch").resource("pods").from_nth(2),
            // After the create that is in vain, and the trial.
            Self::Adoption => rule.verb("patch").resource("configmaps").name(name).from_nth(3),
            Self::TakeOver => rule.verb("patch").resource("configmaps").name(name),
            Self::LastList => rule.verb("list").resource("configmaps"),
        }
    }

    /// Whether the requests of one parent can be told from those of another.
    fn names_its_object(self) -> bool {
        !matches!(self, Self::TrialOfCreate | Self::LastList)
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

/// The world of one kind of request.
struct Setup {
    faults: Faults,
    request: SideRequest,
    elsewhere: String,
}

impl Setup {
    async fn open(request: SideRequest) -> Self {
        let register =
            |builder: SupervisorBuilder| builder.register(request.config(), recipe::sync);
        let faults = Faults::start_as(FaultPlan::new(), register).await;
        let elsewhere = format!("{}-elsewhere", faults.world.namespace);
        faults.world.create(NAMESPACE, json!({"metadata": {"name": elsewhere}})).await;
        Self { faults, request, elsewhere }
    }

    fn world(&self) -> &World {
        &self.faults.world
    }

    /// What a child is before, and after.
    fn wanted(&self, name: &str, is_before: bool) -> Value {
        let much = if is_before { "little" } else { "much" };
        match self.request {
            SideRequest::TrialOfUpdate | SideRequest::TrialOfCreate => json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                "spec": {"containers": [{"name": "main", "image": format!("soup:{much}")}]},
            }),
            SideRequest::LookBeforeDelete => json!({
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

    /// Makes what there is before the request.
    async fn lay_the_table(&self, name: &str) {
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
                self.faults.until_well(name).await;
            }
        }
    }

    /// Does what the request follows from.
    async fn order(&self, name: &str) {
        let world = self.world();
        match self.request {
            SideRequest::LookBeforeCreate => world.delete(CONFIG_MAP, name).await,
            SideRequest::LookBeforeDelete => drop(world.apply(RECIPE, recipe(name, &[])).await),
            SideRequest::TakeOver => {
                let resume = json!({"metadata": {"annotations": {PAUSED: null}}});
                world.patch(RECIPE, name, resume).await;
            }
            SideRequest::LastList => world.delete(RECIPE, name).await,
            _ => drop(world.apply(RECIPE, self.parent(name, false)).await),
        }
    }

    async fn child(&self, name: &str) -> Value {
        let is_there = self.request == SideRequest::LastList;
        let namespace = if is_there { &self.elsewhere } else { &self.world().namespace };
        let api = self.world().api_in(self.request.child(), Some(namespace));
        serde_json::to_value(api.get_opt(name).await.unwrap()).unwrap()
    }

    /// One request about one parent is refused: that is said, and all stays as it is until it passes.
    async fn refuse(&self, case: &Case, name: &str) {
        let faults = &self.faults;
        self.lay_the_table(name).await;
        let before = self.child(name).await;
        let rule = faults.plan.add(self.request.rule(Rule::new(case.fault.clone()), name));
        self.order(name).await;
        until_hits(&rule, 1).await;
        faults.until_shown(name, case.says).await;
        faults.until_said(name, case.says).await;
        faults.until_warned(name, case.says).await;
        case.until_counted(faults, self.request.about()).await;
        react(case, &rule, name).await;
        let meanwhile = self.child(name).await;
        if self.request == SideRequest::LookBeforeCreate {
            assert!(meanwhile.is_null(), "{name}: {meanwhile}");
        } else {
            assert_eq!(meanwhile, before, "{name}: it stays as it is");
        }
        rule.end();
        if case.reaction == Reaction::Rests {
            faults.touch(name).await;
        }
        self.until_served(&before, name).await;
    }

    /// Waits until what was ordered is there, or gone.
    async fn until_served(&self, before: &Value, name: &str) {
        let (faults, world) = (&self.faults, self.world());
        if self.request == SideRequest::LastList {
            world.until(RECIPE, name, "the parent gone", Value::is_null).await;
            return assert!(self.child(name).await.is_null(), "{name}");
        }
        let parent = faults.until_well(name).await;
        let child = self.child(name).await;
        let is_same = child["metadata"]["uid"] == before["metadata"]["uid"];
        match self.request {
            SideRequest::LookBeforeDelete => assert!(child.is_null(), "{name}"),
            SideRequest::LookBeforeCreate => assert_eq!(child["data"]["salt"], "little", "{name}"),
            SideRequest::TrialOfUpdate | SideRequest::TrialOfCreate => {
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

async fn every_answer_to(request: SideRequest) {
    let setup = Setup::open(request).await;
    let mut cases = refusals();
    cases.retain(|case| !goes_on(request).contains(&case.code));
    let named = cases.iter().enumerate().map(|(number, case)| (format!("c{number}"), case));
    let of_setup = &setup;
    let each = named.map(|(name, case)| async move { of_setup.refuse(case, &name).await });
    let at_once = if request.names_its_object() { usize::MAX } else { 1 };
    stream::iter(each).buffer_unordered(at_once).collect::<Vec<()>>().await;
    setup.faults.world.delete(NAMESPACE, &setup.elsewhere).await;
    setup.faults.end().await;
}

#[operetta_harness::test]
async fn every_answer_to_the_look_before_a_child_is_created_anew_is_said_and_survived() {
    every_answer_to(SideRequest::LookBeforeCreate).await;
}

#[operetta_harness::test]
async fn every_answer_to_the_look_before_a_secret_goes_is_said_and_survived() {
    every_answer_to(SideRequest::LookBeforeDelete).await;
}

#[operetta_harness::test]
async fn every_answer_to_the_trial_of_an_update_is_said_and_survived() {
    every_answer_to(SideRequest::TrialOfUpdate).await;
}

#[operetta_harness::test]
async fn every_answer_to_the_trial_of_a_new_child_is_said_and_survived() {
    every_answer_to(SideRequest::TrialOfCreate).await;
}

#[operetta_harness::test]
async fn every_answer_to_the_hand_over_of_an_adoption_is_said_and_survived() {
    every_answer_to(SideRequest::Adoption).await;
}

#[operetta_harness::test]
async fn every_answer_to_the_hand_over_of_a_predecessor_is_said_and_survived() {
    every_answer_to(SideRequest::TakeOver).await;
}

#[operetta_harness::test]
async fn every_answer_to_the_list_before_a_finalizer_goes_is_said_and_survived() {
    every_answer_to(SideRequest::LastList).await;
}
