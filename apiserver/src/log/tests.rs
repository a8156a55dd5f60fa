use serde_json::json;

use super::*;

fn pods() -> Arc<GroupResource> {
    Arc::new(GroupResource::new("", "pods"))
}

fn put(log: &Log, name: &str, expect: Expect) -> Arc<Object> {
    let write = Write {
        resource: &pods(),
        key: ObjectKey::new("ns", name),
        expect,
        delete: false,
        value: json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}),
        epoch: 0,
    };
    log.commit(write).expect("the belief holds")
}

#[test]
fn a_write_with_a_failed_precondition_is_refused_with_the_newest_state() {
    let log = Log::new(10);
    let first = put(&log, "a", Expect::Absent);
    let version = first.meta.resource_version;
    put(&log, "a", Expect::Version(version));
    let write = Write {
        resource: &pods(),
        key: ObjectKey::new("ns", "a"),
        expect: Expect::Version(version),
        delete: false,
        value: json!({}),
        epoch: 0,
    };
    let refused = log.commit(write).expect_err("it is outrun");
    let Refused::Outrun(found) = refused else { panic!("{refused:?}") };
    assert_eq!(found.map(|o| o.meta.resource_version), Some(version + 1));
}

#[test]
fn an_older_view_is_the_newest_with_later_revisions_undone() {
    let log = Log::new(10);
    put(&log, "a", Expect::Absent);
    let version = log.head();
    put(&log, "b", Expect::Absent);
    put(&log, "a", Expect::Version(version));
    put(&log, "c", Expect::Absent);
    let names = |version, after: Option<&str>| -> Vec<_> {
        let after = after.map(|name| ObjectKey::new("ns", name));
        let part = Part { after: after.as_ref(), ..Part::all(&Scope::All) };
        let entries = log.part_at(&pods(), version, part).expect("not compacted").entries;
        entries.into_iter().map(|(key, o)| (key.name, o.meta.resource_version)).collect()
    };
    let [a, b, c]: [Arc<str>; 3] = ["a", "b", "c"].map(Arc::from);
    assert_eq!(names(version, None), [(a.clone(), version)]);
    assert_eq!(names(version, Some("a")), []);
    assert_eq!(names(version + 1, Some("a")), [(b.clone(), version + 1)]);
    let all = [(a, version + 2), (b, version + 1), (c, version + 3)];
    assert_eq!(names(log.head(), None), all);
    assert_eq!(names(log.head(), Some("a")), all[1..]);
    assert_eq!(names(log.head(), Some("aa")), all[1..]);
}

#[test]
fn a_part_of_an_older_view_is_limited_and_returns_the_number_of_the_rest() {
    let log = Log::new(10);
    let [a, ..] = ["a", "c", "e", "g"].map(|name| put(&log, name, Expect::Absent));
    let version = log.head();
    put(&log, "b", Expect::Absent);
    put(&log, "a", Expect::Version(a.meta.resource_version));
    put(&log, "h", Expect::Absent);
    for (after, limit, expected, remaining) in [
        (None, 3, vec!["a", "c", "e"], 1),
        (Some("a"), 3, vec!["c", "e", "g"], 0),
        (Some("b"), 1, vec!["c"], 2),
        (Some("g"), 1, vec![], 0),
    ] {
        let after = after.map(|name| ObjectKey::new("ns", name));
        let part = Part { after: after.as_ref(), limit, counts: true, ..Part::all(&Scope::All) };
        let found = log.part_at(&pods(), version, part).unwrap();
        let names: Vec<_> = found.entries.iter().map(|(key, _)| &*key.name).collect();
        assert_eq!((names, found.remaining), (expected, remaining), "{after:?}");
    }
    for (counts, remaining) in [(true, 4), (false, 1)] {
        let part = Part { limit: 2, counts, ..Part::all(&Scope::All) };
        let newest = log.part(&pods(), part);
        let found = (newest.entries.len(), newest.remaining, newest.version);
        assert_eq!(found, (2, remaining, log.head()));
    }
}

#[test]
fn a_view_of_a_namespace_continues_after_a_key_within_it() {
    let log = Log::new(10);
    put(&log, "a", Expect::Absent);
    put(&log, "b", Expect::Absent);
    for (namespace, after, expected) in [
        ("ns", ("ns", "a"), vec!["b"]),
        ("ns", ("m", "z"), vec!["a", "b"]),
        ("ns", ("o", ""), vec![]),
        ("m", ("m", ""), vec![]),
    ] {
        let (scope, after) = (Scope::Namespace(namespace.into()), ObjectKey::new(after.0, after.1));
        let part = Part { after: Some(&after), ..Part::all(&scope) };
        let found = log.part_at(&pods(), log.head(), part).unwrap();
        let names: Vec<_> = found.entries.iter().map(|(key, _)| &*key.name).collect();
        assert_eq!(names, expected, "{namespace} {after:?}");
    }
}

#[test]
fn a_cursor_older_than_the_floor_is_compacted() {
    let log = Log::new(2);
    let start = log.head();
    for name in ["a", "b", "c"] {
        put(&log, name, Expect::Absent);
    }
    assert_eq!(log.revisions_after(&pods(), start, 9).err(), Some(Compacted { oldest: start + 1 }));
    assert_eq!(log.revisions_after(&pods(), start + 1, 9).map(|(_, r)| r.len()), Ok(2));
    log.compact();
    assert!(log.revisions_after(&pods(), start + 1, 9).is_err());
    assert_eq!(log.revisions_after(&pods(), start + 3, 9).map(|(_, r)| r.len()), Ok(0));
}

#[test]
fn dependents_are_found_by_the_uid_of_an_owner() {
    let log = Log::new(9);
    let value = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "ownerReferences": [{"uid": "u", "kind": "K", "name": "n"}]},
    });
    let pods = pods();
    let write = |expect, delete| Write {
        resource: &pods,
        key: ObjectKey::new("ns", "a"),
        expect,
        delete,
        value: value.clone(),
        epoch: 0,
    };
    let created = log.commit(write(Expect::Absent, false)).expect("absent");
    assert_eq!(log.dependents("u").len(), 1);
    let version = created.meta.resource_version;
    log.commit(write(Expect::Version(version), true)).expect("not outrun");
    assert!(log.dependents("u").is_empty());
}
