//! The conditions of a parent, and how a test that waits for one shows them.

use std::fmt;

use serde_json::Value;

/// The condition of this type, if it is `True` for the current generation.
pub(super) fn current<'a>(parent: &'a Value, ty: &str) -> Option<&'a Value> {
    let generation = parent.pointer("/metadata/generation");
    let of_status = parent.pointer("/status/observedGeneration");
    let is_current = |condition: &&Value| {
        let observed = condition.get("observedGeneration").or(of_status);
        observed.is_none_or(|observed| Some(observed) == generation)
    };
    let mut all = conditions(parent).filter(is_current);
    all.find(|condition| condition["type"] == ty && condition["status"] == "True")
}

fn conditions(parent: &Value) -> impl Iterator<Item = &Value> {
    parent.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten()
}

/// A parent as a test saw it. `Debug` shows its conditions alone.
pub(super) struct Seen(pub(super) kube::Result<Value>);

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = match &self.0 {
            Ok(parent) => parent,
            Err(error) => return fmt::Display::fmt(error, f),
        };
        let generation = parent.pointer("/metadata/generation").unwrap_or(&Value::Null);
        write!(f, "generation {generation}")?;
        if conditions(parent).next().is_none() {
            return f.write_str(", without conditions");
        }
        conditions(parent).try_for_each(|condition| write!(f, "\n- {}", Condition(condition)))
    }
}

/// A condition in one line.
pub(super) struct Condition<'a>(pub(super) &'a Value);

impl fmt::Display for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |field: &str| self.0[field].as_str().unwrap_or_default();
        write!(f, "{}={} {}: {}", text("type"), text("status"), text("reason"), text("message"))?;
        match &self.0["observedGeneration"] {
            Value::Null => Ok(()),
            observed => write!(f, " (generation {observed})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parent() -> Value {
        let ready = json!({
            "type": "Ready", "status": "False", "reason": "HandlerError", "message": "no room",
            "observedGeneration": 1,
        });
        let paused = json!({"type": "Paused", "status": "False", "reason": "NotPaused"});
        json!({
            "metadata": {"generation": 2}, "spec": {"password": "hidden"},
            "status": {"conditions": [ready, paused]},
        })
    }

    #[test]
    fn only_conditions_are_shown() {
        let shown = format!("{:?}", Seen(Ok(parent())));
        assert_eq!(
            shown,
            "generation 2\n- Ready=False HandlerError: no room (generation 1)\n- Paused=False NotPaused: "
        );
        let shown = format!("{:?}", Seen(Ok(json!({"metadata": {"generation": 1}}))));
        assert_eq!(shown, "generation 1, without conditions");
    }
}
