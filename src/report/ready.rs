//! The condition `Ready`. While the parent is synced it follows the children, unless the handler returns a
//! `Ready` of its own; otherwise it repeats `Synced`.

use serde_json::Value;

use super::{Report, shown::shown};
use crate::{
    object::Object,
    operator::{Condition, Conditions, READY, SYNCED},
};

const CHILDREN_READY: &str = "ChildrenReady";
const CHILDREN_NOT_READY: &str = "ChildrenNotReady";

/// The condition for a reconcile with this `Synced`; `None` if the `Ready` of the handler counts.
pub(super) fn condition(synced: &Condition, report: &Report) -> Option<Condition> {
    match &report.not_ready {
        _ if !synced.is_true() => Some(Condition { ty: READY.to_owned(), ..synced.clone() }),
        _ if report.is_ready_returned => None,
        Some(why) => Some(Condition::new(READY, false, CHILDREN_NOT_READY, why.to_string())),
        None => Some(Condition::new(READY, true, CHILDREN_READY, "all children are ready")),
    }
}

/// The condition that a handler returns in a status; `None` if it only returns what it read.
pub(crate) fn returned(status: &Value, read: &Object) -> Option<Condition> {
    let conditions = Conditions::from_json(&status["conditions"]);
    let returned = conditions.get(READY).filter(|ready| !follows_children(&ready.reason))?;
    let is_synced = || shown(read, SYNCED).is_some_and(|synced| synced["status"] == "True");
    let is_echo = || {
        shown(read, READY).is_some_and(|ready| {
            let is = |name: &str, text: &str| ready[name].as_str().unwrap_or_default() == text;
            is("status", returned.status.as_str())
                && is("reason", &returned.reason)
                && is("message", &returned.message)
        })
    };
    // One that the parent shows while it is synced, with a reason that is not ours, was the handler's.
    let was_returned = || is_synced() && !returned.reason.is_empty();
    (!is_echo() || was_returned()).then(|| returned.clone())
}

fn follows_children(reason: &str) -> bool {
    [CHILDREN_READY, CHILDREN_NOT_READY].contains(&reason)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    fn parent(conditions: &Value) -> Object {
        let ty = K8sType::cluster_scoped("example.com/v1", "App", "apps");
        let value = json!({
            "metadata": {"name": "p", "uid": "u", "resourceVersion": "1"},
            "status": {"conditions": conditions},
        });
        Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
    }

    fn of(ty: &str, status: &str, reason: &str) -> Value {
        json!({"type": ty, "status": status, "reason": reason, "message": ""})
    }

    #[test]
    fn what_a_handler_read_is_no_word_of_its_own() {
        let (synced, failed) = (of("Synced", "True", "Synced"), of("Synced", "False", "Conflict"));
        let (mine, theirs) = (of("Ready", "False", "Moving"), of("Ready", "False", "Conflict"));
        for (shown, returned_ready, is_own) in [
            (json!([]), &mine, true),
            (json!([failed, theirs]), &mine, true),
            (json!([failed, theirs]), &theirs, false),
            // As it was returned before.
            (json!([synced, mine]), &mine, true),
            (json!([synced, theirs]), &theirs, true),
            // An older version wrote it.
            (json!([theirs]), &theirs, false),
            // The type declares no reasons.
            (json!([synced, {"type": "Ready", "status": "True"}]), &of("Ready", "True", ""), false),
            (json!([synced]), &of("Ready", "True", "ChildrenReady"), false),
            (json!([]), &of("Ready", "False", "ChildrenNotReady"), false),
            (json!([]), &of("Ready", "Maybe", "Moving"), false),
            (json!([]), &of("Cooked", "True", "Moving"), false),
        ] {
            let status = json!({"conditions": [returned_ready]});
            let found = returned(&status, &parent(&shown));
            assert_eq!(found.is_some(), is_own, "{shown} {returned_ready}");
        }
        assert_eq!(returned(&json!({"conditions": 7}), &parent(&json!([]))), None);
    }
}
