//! The options of `operator` in a script.

use super::{
    caches,
    child_options::{is_of_child, of_child},
    driver::Driver,
    script::Script,
    world::{named, parent_type},
};
use crate::{
    object::{Object, Readiness},
    operator::{
        Allowance, ChildConfig, DecoratorOptions, DeletionLimit, OperatorConfig, Predecessor,
    },
};

/// An operator with these options, and its handler.
pub(super) fn operator(options: &str) -> (Driver, Script) {
    let words: Vec<_> = options.split_whitespace().collect();
    let has = |option: &str| words.contains(&option);
    let known = |word: &str| is_of_child(word) || is_of_operator(word) || word == "finalizer";
    assert!(words.iter().all(|word| known(word)), "an option is unknown: {options}");
    let child = words.iter().fold(ChildConfig::apply(), |child, word| of_child(child, word));
    let mut config = OperatorConfig::new("op", parent_type()).child_of_type(named("any").ty, child);
    for word in &words {
        config = of_operator(config, word);
    }
    let scenario = Script { has_finalizer: has("finalizer"), ..Script::default() };
    let mut driver = Driver::new(config, scenario.has_finalizer);
    if has("sharing-status") {
        driver.caches.publish(Some(caches::any_status()));
    }
    driver.world.may_adopt = has("adopting");
    (driver, scenario)
}

fn is_of_operator(word: &str) -> bool {
    const WORDS: [&str; 11] = [
        "decorator",
        "forced",
        "status-fields",
        "predecessor",
        "secrets",
        "selecting",
        "sharing-status",
        "normal-events",
        "limited",
        "ready-by-status",
        "related",
    ];
    WORDS.contains(&word)
}

fn of_operator(mut config: OperatorConfig, word: &str) -> OperatorConfig {
    match word {
        "predecessor" => {
            let (field_managers, finalizers) = (vec!["old".to_owned()], Vec::new());
            config.predecessor = Predecessor { field_managers, finalizers };
            config
        }
        "decorator" => OperatorConfig { decorator: Some(DecoratorOptions::default()), ..config },
        "forced" => {
            config.decorator.get_or_insert_default().force = true;
            config
        }
        "status-fields" => {
            config.decorator.get_or_insert_default().status_fields = true;
            config
        }
        "secrets" => config.child_of_type(named("Secret/any").ty, ChildConfig::apply()),
        "related" => config.related_of_type(named("Secret/any").ty),
        "selecting" => config.with_parent_selector("tier!=tin"),
        "sharing-status" => config.sharing_status(),
        "ready-by-status" => {
            let is_ready = |child: &Object| match child.field("status")?["ready"].as_str()? {
                "yes" => Some(Readiness::ready()),
                "failed" => Some(Readiness::failed("it is broken")),
                other => Some(Readiness::progressing(other)),
            };
            config.ready_when_of_type(named("any").ty, move |child: &Object| {
                is_ready(child).unwrap_or_else(|| Readiness::progressing("it is new"))
            })
        }
        "normal-events" => config.with_normal_events(),
        "limited" => config.with_deletion_limit(DeletionLimit {
            reconcile: Allowance { percent: 50, at_least: 1 },
            minute: Allowance { percent: 0, at_least: 3 },
        }),
        _ => config,
    }
}
