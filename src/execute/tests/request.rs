//! What a handler gets from the cache.

use std::sync::mpsc;

use super::*;

/// Whether both share one allocation.
fn is_same(one: &Object, other: &Object) -> bool {
    std::ptr::eq(one.key(), other.key())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_gets_the_cached_objects_without_copies() {
    let (sender, receiver) = mpsc::channel();
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 2))
        .desiring(desired("c"))
        .asking(move |request| {
            let children: Vec<Object> = request.children.iter().cloned().collect();
            sender.send((request.parent.clone(), children)).unwrap();
        })
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
    let cached = (world.parent().unwrap(), world.cached("c").unwrap());
    world.reconcile(Memory::default()).await;
    let (parent, children) = receiver.recv().unwrap();
    assert!(is_same(&parent, &cached.0) && is_same(&children[0], &cached.1));
    let copy = Object::from_value(&pods(), &cached.1.to_value(), &setup::kept()).unwrap();
    assert!(copy == cached.1 && !is_same(&copy, &cached.1), "a copy is distinguished");
}
