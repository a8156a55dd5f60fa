//! The testkit of roperator: an operator that plants a tree in each orchard.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use roperator::{
    prelude::*,
    resource::{K8sResource, ObjectIdRef},
    runner::testkit::{HandlerErrors, TestKit},
    serde_json::{Value, json},
};

static ORCHARD: &K8sType =
    &K8sType { api_version: "programs.operetta.dev/v1", kind: "Orchard", plural_kind: "orchards" };

static TREE: &K8sType =
    &K8sType { api_version: "programs.operetta.dev/v1", kind: "Tree", plural_kind: "trees" };

/// How long something may take. Nothing waits that long unless it fails.
const A_WHILE: Duration = Duration::from_secs(30);
const A_MOMENT: Duration = Duration::from_millis(300);

/// The operator and its namespace, which has the same name.
struct Land {
    kit: TestKit,
    name: String,
}

impl Land {
    fn new(name: &str, handler: impl Handler, trees: ChildConfig) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let name = format!("{name}-{now}");
        let config = OperatorConfig::new(name.as_str(), ORCHARD)
            .with_child(TREE, trees)
            .within_namespace(name.as_str())
            .expose_health(false)
            .expose_metrics(false);
        let connection = ClientConfig::from_service_account(name.as_str())
            .or_else(|_outside| ClientConfig::from_kubeconfig(name.as_str()));
        let kit = TestKit::with_test_namespace(&name, config, connection.unwrap(), handler);
        Self { kit: kit.unwrap(), name }
    }

    fn id<'a>(&'a self, name: &'a str) -> ObjectIdRef<'a> {
        ObjectIdRef::new(&self.name, name)
    }

    fn add_orchard(&mut self, name: &str, fruit: &str) {
        let orchard = json!({
            "apiVersion": ORCHARD.api_version, "kind": ORCHARD.kind,
            "metadata": {"name": name, "namespace": self.name}, "spec": {"fruit": fruit},
        });
        self.kit.create_resource(ORCHARD, &orchard).unwrap();
    }

    fn tree(&mut self, name: &str) -> K8sResource {
        let id = ObjectIdRef::new(&self.name, name);
        let found = self.kit.get_resource_from_api_server(TREE, &id).unwrap();
        K8sResource::from_value(found.expect("the tree is there")).unwrap()
    }

    fn fell(&mut self, name: &str) {
        let id = ObjectIdRef::new(&self.name, name);
        self.kit.delete_resource(TREE, &id).unwrap();
        self.kit.reconcile_and_assert_success(A_WHILE);
    }
}

/// A tree of the orchard's name, as a handler that is a function.
#[expect(clippy::unnecessary_wraps, reason = "the signature of roperator")]
fn plant(request: &SyncRequest) -> Result<SyncResponse, Error> {
    let orchard = &request.parent;
    let tree = json!({
        "apiVersion": TREE.api_version, "kind": TREE.kind,
        "metadata": {"name": orchard.name(), "namespace": orchard.namespace()},
        "spec": {"bears": orchard.pointer("/spec/fruit")},
    });
    let trees = request.children().of_type(TREE).iter().count();
    Ok(SyncResponse { status: json!({"trees": trees}), children: vec![tree], resync: None })
}

fn bears(tree: &K8sResource) -> Option<&str> {
    tree.pointer("/spec/bears").and_then(Value::as_str)
}

#[operetta_harness::test]
fn a_tree_is_planted_and_goes_with_its_orchard() {
    let mut land = Land::new("planted", plant, ChildConfig::recreate());
    land.add_orchard("north", "plum");
    let id = ObjectIdRef::new(&land.name, "north");
    let tree = json!({"metadata": {"name": "north"}, "spec": {"bears": "plum"}});
    land.kit.assert_resource_eq_eventually(TREE, &id, tree, A_WHILE);
    let counted = json!({"status": {"trees": 1}});
    land.kit.assert_resource_eq_eventually(ORCHARD, &id, counted, A_WHILE);

    land.kit.delete_parent(&id, A_WHILE);
    land.kit.assert_resource_deleted_eventually(TREE, &id, A_WHILE);
}

#[operetta_harness::test]
fn a_tree_that_was_felled_is_planted_again() {
    let mut land = Land::new("felled", plant, ChildConfig::recreate());
    land.add_orchard("north", "plum");
    let id = ObjectIdRef::new(&land.name, "north");
    land.kit.assert_resource_exists_eventually(TREE, &id, A_WHILE);
    let before = land.tree("north");

    land.fell("north");

    assert_ne!(land.tree("north").uid(), before.uid());
}

#[operetta_harness::test]
fn a_tree_under_on_delete_bears_what_it_bore_until_it_is_felled() {
    let mut land = Land::new("grafted", plant, ChildConfig::on_delete());
    land.add_orchard("north", "plum");
    let namespace = land.name.clone();
    let id = ObjectIdRef::new(&namespace, "north");
    land.kit.assert_resource_exists_eventually(TREE, &id, A_WHILE);
    let before = land.tree("north");

    // Its status would be written meanwhile.
    land.kit.reconcile_and_assert_success(A_WHILE);
    let mut orchard = land.kit.get_resource_from_api_server(ORCHARD, &id).unwrap().unwrap();
    orchard["spec"]["fruit"] = Value::from("quince");
    land.kit.replace_resource(ORCHARD, &id, &orchard).unwrap();
    land.kit.reconcile_and_assert_success(A_WHILE);

    let tree = land.tree("north");
    assert_eq!(bears(&tree), Some("plum"));
    assert_eq!((tree.uid(), tree.generation()), (before.uid(), before.generation()));

    land.fell("north");
    let tree = land.tree("north");
    assert_eq!(bears(&tree), Some("quince"));
    assert_ne!(tree.uid(), before.uid());
}

/// A handler around another, which fails for one orchard.
struct Blight<H> {
    orchard: &'static str,
    healthy: H,
    seen: AtomicUsize,
}

#[derive(Debug, thiserror::Error)]
#[error("the leaves fall, for the {0}th time")]
struct LeavesFall(usize);

impl<H: Handler> Handler for Blight<H> {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
        if request.parent.name() != self.orchard {
            return self.healthy.sync(request);
        }
        let before = self.seen.fetch_add(1, Ordering::Relaxed);
        Err(Error::new(LeavesFall(before + 1)))
    }
}

#[operetta_harness::test]
fn an_orchard_with_blight_is_counted_and_harms_no_other() {
    let blight = Blight { orchard: "north", healthy: plant, seen: AtomicUsize::new(0) };
    let mut land = Land::new("blight", blight, ChildConfig::replace());
    land.add_orchard("north", "plum");

    let error = land.kit.reconcile(A_WHILE).expect_err("the handler fails");
    let errors: &HandlerErrors = error.downcast_ref().expect("the handler alone has failed");
    assert!(errors.get_sync_error_count_for_parent(&land.id("north")) > 0);
    assert_eq!(errors.get_finalize_error_count_for_parent(&land.id("north")), 0);
    let north = ObjectIdRef::new(&land.name, "north");
    let state = land.kit.get_current_state_for_parent(&north).unwrap();
    assert!(state.children.is_empty(), "{:?}", state.children);

    land.add_orchard("south", "medlar");
    // The other one may have failed again.
    let _ = land.kit.reconcile(A_WHILE);
    let south = ObjectIdRef::new(&land.name, "south");
    land.kit.assert_child_resource_eq(TREE, &south, json!({"spec": {"bears": "medlar"}}));
    assert_eq!(errors.get_sync_error_count_for_parent(&south), 0);
}

/// A handler that needs several days to harvest, and counts them.
struct Harvest {
    needed: usize,
    days: Arc<AtomicUsize>,
}

impl Handler for Harvest {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
        plant(request)
    }

    fn finalize(&self, _: &SyncRequest) -> Result<FinalizeResponse, Error> {
        let days = self.days.fetch_add(1, Ordering::Relaxed) + 1;
        let retry = (days < self.needed).then_some(Duration::from_millis(20));
        Ok(FinalizeResponse { status: json!({"days": days}), retry })
    }
}

#[operetta_harness::test]
fn an_orchard_stays_until_it_is_harvested() {
    let days = Arc::new(AtomicUsize::new(0));
    let harvest = Harvest { needed: 4, days: Arc::clone(&days) };
    let mut land = Land::new("harvest", harvest, ChildConfig::replace());
    land.add_orchard("north", "plum");
    let id = ObjectIdRef::new(&land.name, "north");
    let held = json!({"metadata": {"finalizers": [land.name]}});
    land.kit.assert_resource_eq_eventually(ORCHARD, &id, held, A_WHILE);
    land.kit.assert_resource_exists_eventually(TREE, &id, A_WHILE);

    land.kit.delete_parent(&id, A_WHILE);

    assert_eq!(days.load(Ordering::Relaxed), 4);
    land.kit.assert_resource_deleted_eventually(TREE, &id, A_WHILE);
}

/// A handler that comes back until it has watered often enough.
struct Watering(Arc<AtomicUsize>);

const OFTEN: usize = 6;

impl Handler for Watering {
    fn sync(&self, _: &SyncRequest) -> Result<SyncResponse, Error> {
        let times = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let resync = if times < OFTEN { Some(Duration::from_millis(20)) } else { None };
        Ok(SyncResponse { status: json!({}), children: Vec::new(), resync })
    }
}

#[operetta_harness::test]
fn an_orchard_is_watered_as_often_as_its_handler_wants() {
    let times = Arc::new(AtomicUsize::new(0));
    let mut land = Land::new("watered", Watering(Arc::clone(&times)), ChildConfig::replace());
    land.add_orchard("north", "plum");

    let deadline = SystemTime::now() + A_WHILE;
    while times.load(Ordering::Relaxed) < OFTEN && SystemTime::now() < deadline {
        land.kit.reconcile(A_MOMENT).unwrap();
    }

    assert!(times.load(Ordering::Relaxed) >= OFTEN);
}
