//! What is asked for, dropped and answered, in which order.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{
    object::{K8sType, ObjectKey},
    operator::Namespaces,
    store::Store,
};

fn named(name: &str) -> Ask {
    Ask::Named(ObjectKey::namespaced("ns", name))
}

fn source() -> (Source, Arc<AtomicUsize>) {
    let ty = K8sType::namespaced("v1", "Secret", "secrets");
    let spec = SourceSpec { ty, metadata_only: false, namespaces: Namespaces::All };
    let (source, pokes) = (Source::new(spec), Arc::new(AtomicUsize::new(0)));
    let count = pokes.clone();
    source.on_change(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    (source, pokes)
}

fn state_of(source: &Source, ask: &Ask) -> &'static str {
    match source.look(ask) {
        Look::Objects(_) => "known",
        Look::Pending => "pending",
        Look::Unavailable(_) => "unavailable",
    }
}

#[test]
fn the_actor_is_poked_once_for_all_changes_until_it_looks() {
    let (source, pokes) = source();
    source.ask(vec![named("a"), named("b")], vec![]);
    source.ask(vec![named("a")], vec![]);
    source.ask(vec![], vec![named("b")]);
    assert_eq!(pokes.load(Ordering::Relaxed), 1);
    let changes = source.take_changes();
    assert_eq!(changes, [(named("a"), true), (named("b"), false), (named("b"), false)]);
    source.ask(vec![], vec![named("a")]);
    assert!(source.take_changes().is_empty(), "another operator still asks");
    source.ask(vec![], vec![named("a")]);
    assert_eq!(source.take_changes(), [(named("a"), false)]);
    assert_eq!(pokes.load(Ordering::Relaxed), 2);
}

#[test]
fn an_exact_watch_answers_until_a_broad_one_can() {
    let (source, _) = source();
    let (a, b) = (named("a"), named("b"));
    let reader = Store::new(source.spec().ty.clone(), BTreeSet::new()).reader();
    source.ask(vec![a.clone(), b.clone()], vec![]);
    assert_eq!(state_of(&source, &a), "pending");
    let exact = FeedKey::Exact(a.clone());
    source.add_feed(exact.clone(), reader.clone());
    assert_eq!(state_of(&source, &a), "pending");
    source.set_state(&exact, FeedState::Failing("no".to_owned()));
    assert_eq!(state_of(&source, &a), "unavailable");
    source.set_state(&exact, FeedState::Synced);
    assert_eq!((state_of(&source, &a), state_of(&source, &b)), ("known", "pending"));
    let broad = source.spec().broad(&a);
    source.add_feed(broad.clone(), reader);
    source.set_state(&broad, FeedState::Synced);
    assert_eq!((state_of(&source, &a), state_of(&source, &b)), ("known", "pending"));
    source.fetched(&broad, [&a]);
    source.drop_feed(&exact);
    assert_eq!((state_of(&source, &a), state_of(&source, &b)), ("known", "pending"));
    source.fetching_fails(&broad, "no".to_owned());
    assert_eq!((state_of(&source, &a), state_of(&source, &b)), ("known", "unavailable"));
    source.fetched(&broad, [&b]);
    assert_eq!(state_of(&source, &b), "known");
}

/// A source with a broad watch that has answered one ask.
fn with_one_fetched() -> (Source, FeedKey) {
    let (source, _) = source();
    let key = source.spec().broad(&named("a"));
    let reader = Store::new(source.spec().ty.clone(), BTreeSet::new()).reader();
    source.add_feed(key.clone(), reader);
    source.set_state(&key, FeedState::Synced);
    source.ask(vec![named("a")], vec![]);
    assert_eq!(source.take_changes(), [(named("a"), true)]);
    source.fetched(&key, [&named("a")]);
    assert_eq!(state_of(&source, &named("a")), "known");
    (source, key)
}

#[test]
fn what_is_dropped_and_asked_for_again_before_the_actor_looks_stays_known() {
    let (source, _) = with_one_fetched();
    source.ask(vec![], vec![named("a")]);
    source.ask(vec![named("a")], vec![]);
    assert_eq!(source.take_changes(), [(named("a"), true), (named("a"), true)]);
    assert_eq!(state_of(&source, &named("a")), "known", "the actor fetches nothing");
}

#[test]
fn what_is_dropped_while_it_is_fetched_and_asked_for_again_is_known() {
    let (source, key) = with_one_fetched();
    source.ask(vec![named("b")], vec![]);
    assert_eq!(source.take_changes(), [(named("b"), true)]);
    source.ask(vec![], vec![named("b")]);
    source.fetched(&key, [&named("b")]);
    source.ask(vec![named("b")], vec![]);
    assert_eq!(source.take_changes(), [(named("b"), true), (named("b"), true)]);
    assert_eq!(state_of(&source, &named("b")), "known", "the actor fetches it once");
}

#[test]
fn what_the_actor_has_dropped_is_fetched_when_it_is_asked_for_again() {
    let (source, _) = with_one_fetched();
    source.ask(vec![], vec![named("a")]);
    assert_eq!(source.take_changes(), [(named("a"), false)]);
    source.ask(vec![named("a")], vec![]);
    assert_eq!(state_of(&source, &named("a")), "pending", "the store has it no longer");
    assert_eq!(source.take_changes(), [(named("a"), true)]);
}

#[test]
fn a_namespace_whose_objects_cannot_be_listed_fails_alone() {
    let ty = K8sType::namespaced("v1", "Secret", "secrets");
    let namespaces = Namespaces::Only(["x", "y"].map(str::to_owned).into());
    let source = Source::new(SourceSpec { ty: ty.clone(), metadata_only: false, namespaces });
    let asks = ["x", "y"].map(|namespace| Ask::Named(ObjectKey::namespaced(namespace, "a")));
    let keys = asks.each_ref().map(|ask| source.spec().broad(ask));
    for key in &keys {
        source.add_feed(key.clone(), Store::new(ty.clone(), BTreeSet::new()).reader());
        source.set_state(key, FeedState::Synced);
    }
    source.ask(asks.to_vec(), vec![]);
    source.fetching_fails(&keys[0], "no".to_owned());
    let states = || asks.each_ref().map(|ask| state_of(&source, ask));
    assert_eq!(states(), ["unavailable", "pending"]);
    source.fetched(&keys[1], [&asks[1]]);
    assert_eq!(states(), ["unavailable", "known"]);
}
