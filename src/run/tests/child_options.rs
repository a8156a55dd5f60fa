//! The options of children in a script: of their type, or of one child.

use serde_json::Value;

use super::world::named;
use crate::operator::{
    ChildConfig, ConflictPolicy, DesiredChild, Prerequisite, Propagation, Rolling,
};

/// The child that a handler returns for an object. The words are its own options; none for those of
/// its type. `ensure` is no option of a type.
pub(super) fn desired(words: &str, object: Value) -> DesiredChild {
    let words: Vec<_> = words.split_whitespace().collect();
    let ensure = words.contains(&"ensure");
    let order = |word: &&str| word.starts_with("stage:") || word.starts_with("after:");
    let (ordered, own): (Vec<_>, Vec<_>) = words.into_iter().partition(order);
    let own: Vec<_> = own.into_iter().filter(|word| *word != "ensure").collect();
    let of = |kind: &'static str| ordered.iter().filter_map(move |word| word.strip_prefix(kind));
    let stage = of("stage:").next().map_or(0, |stage| stage.parse().unwrap());
    let after = of("after:").map(|name| {
        let id = named(name);
        Prerequisite::new(&id.ty, &*id.key.name)
    });
    let after = after.collect();
    assert!(own.iter().all(|word| is_of_child(word)), "an option is unknown: {own:?}");
    let config = || own.iter().fold(ChildConfig::apply(), |child, word| of_child(child, word));
    DesiredChild { config: (!own.is_empty()).then(config), ensure, stage, after, ..object.into() }
}

pub(super) fn is_of_child(word: &str) -> bool {
    const WORDS: [&str; 14] = [
        "apply",
        "recreate",
        "on-delete",
        "recreating-immutable",
        "adopting",
        "yielding",
        "reporting",
        "orphaning",
        "foreground",
        "orphan-on-delete",
        "delete-with-finalizer",
        "ignoring-readiness",
        "rolling-1",
        "rolling-2",
    ];
    WORDS.contains(&word)
}

pub(super) fn of_child(child: ChildConfig, word: &str) -> ChildConfig {
    match word {
        "recreate" => ChildConfig::recreate(),
        "on-delete" => ChildConfig::on_delete(),
        "rolling-1" => child.rolling(Rolling::max_unavailable(1)),
        "rolling-2" => child.rolling(Rolling::max_unavailable(2)),
        "recreating-immutable" => child.recreate_if_immutable(),
        "adopting" => child.adopting(),
        "yielding" => child.with_conflicts(ConflictPolicy::Yield),
        "reporting" => child.with_conflicts(ConflictPolicy::Report),
        "orphaning" => child.with_propagation(Propagation::Orphan),
        "foreground" => child.with_propagation(Propagation::Foreground),
        "orphan-on-delete" => child.orphan_on_delete(),
        "delete-with-finalizer" => child.delete_with_finalizer(),
        "ignoring-readiness" => child.ignoring_readiness(),
        _ => child,
    }
}
