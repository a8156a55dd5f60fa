//! What a reconcile reads of the caches, and how replies change them.

use super::{setup::object, *};

fn quiet(asked: &scripted::Asked) -> Reply {
    match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    }
}

/// Children of a cross-namespace type may be in any namespace.
#[tokio::test(flavor = "multi_thread")]
async fn a_type_is_unsynced_until_its_children_and_the_parent_are_listed() {
    let own = || Setup::new(pods(), ChildConfig::apply());
    let anywhere = || Setup::new(pods(), ChildConfig::apply().delete_with_finalizer());
    for (what, setup, expected) in [
        ("listed", own(), 0),
        ("not listed", own().unlisted(), 1),
        ("another namespace is not listed", own().partly_listed(), 0),
        ("listed everywhere", anywhere(), 0),
        ("a namespace is not listed", anywhere().partly_listed(), 1),
        ("the parent may be old", own().cut_off(), 1),
    ] {
        let world = setup.before(quiet);
        let doubts = world.snapshot().doubts;
        assert_eq!(doubts.unsynced.types().len(), expected, "{what}");
        assert_eq!(doubts.may_be_old, what == "the parent may be old", "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undecodable_parents_and_children_are_known() {
    let setup = || Setup::new(pods(), ChildConfig::apply());
    for (setup, undecodable) in [
        (setup(), (false, 0)),
        (setup().with_unreadable_parent(), (true, 0)),
        (setup().leaving_out(&child("5", 1)), (false, 1)),
    ] {
        let doubts = setup.before(quiet).snapshot().doubts;
        assert_eq!((doubts.is_parent_undecodable, doubts.undecodable.len()), undecodable);
    }
}

/// Whatever happens between two reads of one step.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_sees_one_state_while_the_stores_change() {
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1));
    let world = setup.before(quiet);
    let of_step = world.snapshot();
    let seen = |snapshot: &Snapshot| {
        let objects = [app(), pods()].map(|ty| snapshot.objects.objects(&ty));
        let of_parent = snapshot.objects.of_parent([pods()].iter(), &Uid::new("pu"));
        let versions = objects.iter().flatten().chain(of_parent.iter());
        let mut versions: Vec<_> = versions.map(|it| it.resource_version().to_string()).collect();
        versions.sort_unstable();
        let doubts = &snapshot.doubts;
        (versions, doubts.may_be_old, doubts.unsynced.types().len(), doubts.undecodable.len())
    };
    let before = seen(&of_step);
    assert_eq!(before.0.len(), 3, "the parent, the child, and the child as one of the parent");
    world.changed_parent(&parent("8"));
    world.context().cache(None, Cache::Saw(object(&pods(), &child("9", 2))));
    let mut another = child("10", 1);
    another["metadata"]["name"] = json!("another");
    another["metadata"]["uid"] = json!("another");
    world.context().cache(None, Cache::Saw(object(&pods(), &another)));
    world.cut_off();
    assert_eq!(seen(&of_step), before, "the second read");
    let next = seen(&world.snapshot());
    assert_eq!(next.0.len(), 5, "{next:?}");
    assert!(next.1 && next.2 == 1, "{next:?}");
    let gone = Cache::Absent(ChildId::of(&object(&pods(), &another)), Uid::new("another"));
    let of_step = world.snapshot();
    world.context().cache(None, gone);
    assert_eq!(seen(&of_step).0, next.0, "a deletion");
    assert_eq!(seen(&world.snapshot()).0.len(), 3);
}

/// Those of all parents, for the limit of a minute.
#[tokio::test(flavor = "multi_thread")]
async fn the_children_of_the_operator_are_counted() {
    let mut other = child("5", 1);
    other["metadata"]["name"] = json!("d");
    other["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!("another");
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1)).caching(other);
    assert_eq!(setup.before(quiet).context().count_children(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_child_is_cached_as_in_the_reply() {
    let ending = |grace: u64, finalizers: &[&str]| {
        let mut ending = child("6", 1);
        ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        ending["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        ending["metadata"]["finalizers"] = json!(finalizers);
        (200, ending)
    };
    for (answer, is_cached) in [
        (ending(30, &[]), true),
        (ending(0, &["example.com/backup"]), true),
        // The reply for a Pod without a node: it need not be waited for.
        (ending(0, &[]), false),
        (done(), false),
        ((200, child("6", 1)), false),
    ] {
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1));
        let world = setup.before(move |asked| match asked.method.as_str() {
            "PATCH" => with_status(&asked.body),
            "DELETE" => answer.clone(),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!((report.deletions(), world.is_cached("c")), (1, is_cached));
    }
}

/// The watch event of an object that was read will be ignored. Own writes do not wake the parent.
#[tokio::test(flavor = "multi_thread")]
async fn changes_by_others_that_a_reconcile_reads_wake_its_parent() {
    let id = ChildId { ty: pods(), key: ObjectKey::namespaced("ns", "c") };
    let object = |version| Object::from_value(&pods(), &child(version, 2), &setup::kept()).unwrap();
    for (change, is_cached, wakes) in [
        (Cache::Wrote(object("6")), true, false),
        (Cache::Saw(object("6")), true, true),
        (Cache::Deleted(id.clone(), Uid::new("cu")), false, false),
        (Cache::Absent(id.clone(), Uid::new("cu")), false, true),
        (Cache::Absent(id, Uid::new("another")), true, false),
    ] {
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1));
        let world = setup.before(quiet);
        world.context().cache(world.parent().as_ref(), change.clone());
        let seen = (world.is_cached("c"), world.notified_the_parent_too());
        assert_eq!(seen, (is_cached, wakes), "{change:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undecodable_object_is_announced_about_itself_or_about_its_parents() {
    let world = Setup::new(pods(), ChildConfig::apply()).before(|_| done());
    let ours = json!({"name": "x", "namespace": "ns",
        "labels": {"app.kubernetes.io/managed-by": "op"}});
    let of_others = json!({"name": "x", "namespace": "ns",
        "labels": {"app.kubernetes.io/managed-by": "helm"}});
    let unlabelled = json!({"name": "x", "namespace": "ns"});
    let unreadable = json!({"name": "x", "namespace": "ns", "labels": "?"});
    let nameless = json!({"name": 7});
    for (ty, metadata, is_known, expected) in [
        (app(), &unlabelled, false, "App ns/x"),
        (app(), &nameless, false, ""),
        (pods(), &ours, true, "App ns/p"),
        (pods(), &nameless, true, "App ns/p"),
        (pods(), &nameless, false, ""),
        (pods(), &ours, false, "Pod ns/x"),
        (pods(), &unreadable, false, "Pod ns/x"),
        (pods(), &of_others, false, ""),
        (pods(), &unlabelled, false, ""),
        (secrets(), &ours, true, ""),
    ] {
        let text = json!({"metadata": metadata}).to_string();
        let object = Undecodable::read(&ty, &text, "odd".to_owned());
        assert_eq!(world.concerned(&object, is_known).join(","), expected, "{ty} {text}");
    }
}
