//! What the `podFailurePolicy` of a Job makes of a Pod that failed. The first rule that matches decides.

use serde_json::Value;

use crate::simulation::object::{items, name, text};

/// What becomes of a Pod that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It counts towards the limit.
    Counts,
    /// It does not count, and is replaced.
    Ignored,
    /// It fails the Job, for this reason.
    FailsJob(String),
}

impl Failure {
    /// Decides. An index fails only with `backoffLimitPerIndex`; without it such a Pod counts.
    pub(super) fn of(job: &Value, pod: &Value) -> Self {
        for (index, rule) in items(&job["spec"]["podFailurePolicy"]["rules"]).enumerate() {
            let Some(why) = matched(rule, pod) else { continue };
            return match text(&rule["action"]) {
                "Ignore" => Self::Ignored,
                "FailJob" => {
                    Self::FailsJob(format!("{why} matching FailJob rule at index {index}"))
                }
                "Count" => Self::Counts,
                _ => continue,
            };
        }
        Self::Counts
    }
}

/// Why a Pod matches a rule, if it does.
fn matched(rule: &Value, pod: &Value) -> Option<String> {
    let pod_name = format!("{}/{}", text(&pod["metadata"]["namespace"]), name(pod));
    let codes = &rule["onExitCodes"];
    if codes.is_object() {
        let status = &pod["status"];
        let lists = [&status["containerStatuses"], &status["initContainerStatuses"]];
        let (container, code) =
            lists.into_iter().flat_map(items).find_map(|it| exited(codes, it))?;
        return Some(format!(
            "Container {container} for pod {pod_name} failed with exit code {code}"
        ));
    }
    let patterns = || items(&rule["onPodConditions"]);
    let is_wanted = |condition: &&Value| {
        patterns().any(|it| it["type"] == condition["type"] && it["status"] == condition["status"])
    };
    let condition = items(&pod["status"]["conditions"]).find(is_wanted)?;
    Some(format!("Pod {pod_name} has condition {}", text(&condition["type"])))
}

/// The name of a container and the code with which it ended, if the rule is about that.
fn exited<'a>(codes: &Value, container: &'a Value) -> Option<(&'a str, i64)> {
    let code = container["state"]["terminated"]["exitCode"].as_i64().filter(|code| *code != 0)?;
    let is_named = codes["containerName"].is_null() || codes["containerName"] == container["name"];
    let is_listed = items(&codes["values"]).any(|value| *value == code);
    let is_wanted = match text(&codes["operator"]) {
        "In" => is_listed,
        "NotIn" => !is_listed,
        _ => false,
    };
    (is_named && is_wanted).then(|| (text(&container["name"]), code))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod() -> Value {
        let terminated = |code: i64| json!({"terminated": {"exitCode": code}});
        json!({
            "metadata": {"name": "p", "namespace": "n"},
            "status": {
                "conditions": [{"type": "DisruptionTarget", "status": "True"}],
                "containerStatuses": [
                    {"name": "main", "state": terminated(42)},
                    {"name": "side", "state": terminated(0)},
                ],
            },
        })
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let exits = |action: &str, operator: &str, values: Value| json!({"action": action, "onExitCodes": {"operator": operator, "values": values}});
        let of_side = |mut rule: Value| {
            rule["onExitCodes"]["containerName"] = json!("side");
            rule
        };
        let disrupted = |action: &str| json!({"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]});
        let by_code =
            "Container main for pod n/p failed with exit code 42 matching FailJob rule at index 1";
        let by_condition =
            "Pod n/p has condition DisruptionTarget matching FailJob rule at index 0";
        for (rules, expected) in [
            (json!([]), Failure::Counts),
            (json!([exits("Ignore", "In", json!([42]))]), Failure::Ignored),
            (json!([exits("Ignore", "In", json!([41]))]), Failure::Counts),
            (
                json!([exits("Count", "In", json!([42])), exits("FailJob", "In", json!([42]))]),
                Failure::Counts,
            ),
            (
                json!([exits("Ignore", "In", json!([1])), exits("FailJob", "NotIn", json!([1]))]),
                Failure::FailsJob(by_code.to_owned()),
            ),
            // A container that succeeded matches no rule.
            (json!([of_side(exits("FailJob", "NotIn", json!([1])))]), Failure::Counts),
            (json!([disrupted("Ignore")]), Failure::Ignored),
            (json!([disrupted("FailJob")]), Failure::FailsJob(by_condition.to_owned())),
            (json!([disrupted("FailIndex"), disrupted("Ignore")]), Failure::Ignored),
        ] {
            let job = json!({"spec": {"podFailurePolicy": {"rules": rules}}});
            assert_eq!(Failure::of(&job, &pod()), expected, "{rules}");
        }
    }
}
