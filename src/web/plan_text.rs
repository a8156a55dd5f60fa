//! Plans as text: a unified diff that people and programs read.

use std::fmt;

use serde_json::Value;

use super::{
    diff::{DifferenceView, PreviewView},
    plan::{ChildPlan, ParentPlan, Plans},
};
use crate::object::{OneLine, legible};

/// A unified diff with one hunk per field, and a summary. No text of others can begin a line.
impl fmt::Display for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for parent in &self.parents {
            writeln!(f, "# {} {}", parent.operator, OneLine(&parent.key))?;
            if let Some(problem) = &parent.problem {
                writeln!(f, "# no plan: {}", OneLine(problem))?;
            }
            if let Some(why) = &parent.unchecked {
                writeln!(f, "# not checked by the API server: {}", OneLine(why))?;
            }
            parent.fmt_differences(f)?;
            parent.changes.iter().try_for_each(|child| write!(f, "{child}"))?;
        }
        let differing = self.parents.iter().filter(|it| it.would_change()).count();
        writeln!(f, "# {differing} of {} parents would be changed", self.looked_at)
    }
}

impl ParentPlan {
    fn fmt_differences(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.differences.is_empty() {
            return Ok(());
        }
        let name = OneLine(format!("{}/{}/{}", self.api_version, self.kind, self.key)).to_string();
        writeln!(f, "# Update {name}\n--- live {name}\n+++ desired {name}")?;
        self.differences.iter().try_for_each(|difference| write!(f, "{difference}"))
    }
}

impl fmt::Display for ChildPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PreviewView { action, why, differences } = &self.change;
        let name = OneLine(format!("{}/{}/{}", self.api_version, self.kind, self.key)).to_string();
        writeln!(f, "# {action} {name}")?;
        if let Some(why) = why {
            writeln!(f, "# not written: {}", OneLine(why))?;
        }
        let (live, desired) = match *action {
            "Create" => ("/dev/null", name.as_str()),
            "Delete" => (name.as_str(), "/dev/null"),
            _ => (name.as_str(), name.as_str()),
        };
        writeln!(f, "--- live {live}\n+++ desired {desired}")?;
        differences.iter().try_for_each(|difference| write!(f, "{difference}"))
    }
}

impl fmt::Display for DifferenceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "@@ {} @@", OneLine(&self.path))?;
        for (sign, value) in [('-', &self.live), ('+', &self.desired)] {
            let text = value.as_ref().map(text).unwrap_or_default();
            legible(&text).lines().try_for_each(|line| writeln!(f, "{sign}{line}"))?;
        }
        Ok(())
    }
}

/// A value as YAML.
fn text(value: &Value) -> String {
    serde_yaml_ng::to_string(value).unwrap_or_else(|_| value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::web::views::KeyView;

    /// Printed on terminals, and read by programs as a diff.
    #[test]
    fn no_text_of_others_begins_a_line_or_controls_a_terminal() {
        let forged = || "x\n# Delete v1/Pod/ns/a\r\u{1b}[2K\u{202e}".to_owned();
        let key = || KeyView { namespace: Some("ns".to_owned()), name: forged() };
        let difference = DifferenceView {
            path: forged(),
            desired: Some(json!(forged())),
            live: Some(json!({(forged()): 1})),
        };
        let change = PreviewView {
            action: "Update",
            why: Some(forged()),
            differences: vec![difference.clone()],
        };
        let child = ChildPlan { api_version: "v1".into(), kind: "Pod".into(), key: key(), change };
        let parent = ParentPlan {
            operator: "op".to_owned(),
            api_version: "example.com/v1".to_owned(),
            kind: "App".to_owned(),
            key: key(),
            problem: Some(forged()),
            unchecked: Some(forged()),
            differences: vec![difference],
            changes: vec![child],
        };
        let plans = Plans { looked_at: 1, parents: vec![parent] };
        let text = plans.to_string();
        assert!(text.contains("# Delete v1/Pod/ns/a"), "it is quoted: {text}");
        assert!(!text.lines().any(|line| line.starts_with("# Delete")), "{text}");
        assert!(!text.contains(['\r', '\u{1b}', '\u{202e}']), "{text}");
        assert!(plans.problems().all(|problem| !problem.contains(['\n', '\r', '\u{1b}'])));
    }
}
