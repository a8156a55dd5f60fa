//! What a handler is given of the cache.

use std::sync::mpsc;

use super::*;

/// Equal addresses of what an object holds by value: it is the same allocation, not a copy.
fn is_same(one: &Object, other: &Object) -> bool {
    std::ptr::eq(one.key(), other.key()) && std::ptr::eq(one.json(), other.json())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_is_given_the_cached_objects_themselves_and_no_copies() {
    let (say, heard) = mpsc::channel();
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 2))
        .desiring(desired("c"))
        .asking(move |request| {
            let children: Vec<Object> = request.children.iter().cloned().collect();
            say.send((request.parent.clone(), children)).unwrap();
        })
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
    let cached = (world.parent().unwrap(), world.cached("c").unwrap());
    world.run(Memory::default()).await;
    let (parent, children) = heard.recv().unwrap();
    assert!(is_same(&parent, &cached.0) && is_same(&children[0], &cached.1));
    let copy = Object::from_value(&pods(), &cached.1.to_value(), &setup::kept()).unwrap();
    assert!(copy == cached.1 && !is_same(&copy, &cached.1), "a copy is told from it");
}
