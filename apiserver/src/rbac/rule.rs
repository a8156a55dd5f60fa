//! A rule of a role: what it allows, and how it is written in messages.

use serde_json::{Map, Value};

use super::attributes::{Attributes, Target};
use crate::schema::go_value::quote;

const ALL: &str = "*";

/// A rule of a role.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rule {
    /// What may be done.
    pub verbs: Vec<String>,
    /// In these groups.
    pub groups: Vec<String>,
    /// With these resources, or subresources.
    pub resources: Vec<String>,
    /// With objects of these names; of any name if there are none.
    pub names: Vec<String>,
    /// With these paths.
    pub urls: Vec<String>,
}

impl Rule {
    /// Reads a rule of a stored role.
    pub(crate) fn read(rule: &Value) -> Self {
        let texts = |field: &str| {
            let list = rule[field].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            verbs: texts("verbs"),
            groups: texts("apiGroups"),
            resources: texts("resources"),
            names: texts("resourceNames"),
            urls: texts("nonResourceURLs"),
        }
    }

    /// Everything: with all resources, and with all paths.
    pub(crate) fn everything() -> [Self; 2] {
        let all = || vec![ALL.to_owned()];
        [
            Self { verbs: all(), groups: all(), resources: all(), ..Self::default() },
            Self { verbs: all(), urls: all(), ..Self::default() },
        ]
    }

    /// Whether it allows this.
    pub(crate) fn allows(&self, attributes: &Attributes) -> bool {
        if !lists(&self.verbs, &attributes.verb) {
            return false;
        }
        match &attributes.target {
            Target::Path(path) => self.urls.iter().any(|url| covers_url(url, path)),
            Target::Resource(target) => {
                lists(&self.groups, &target.group)
                    && self.allows_resource(&target.full_name(), &target.subresource)
                    && (self.names.is_empty() || self.names.contains(&target.name))
            }
        }
    }

    fn allows_resource(&self, full_name: &str, subresource: &str) -> bool {
        let is_part_of_any = |resource: &str| {
            !subresource.is_empty() && resource.strip_prefix("*/") == Some(subresource)
        };
        lists(&self.resources, full_name) || self.resources.iter().any(|it| is_part_of_any(it))
    }

    /// As messages show it.
    pub(crate) fn shown(&self) -> String {
        let Self { verbs, groups, resources, names, urls } = self;
        let fields = [
            ("APIGroups", groups),
            ("Resources", resources),
            ("NonResourceURLs", urls),
            ("ResourceNames", names),
            ("Verbs", verbs),
        ];
        let given = fields.into_iter().filter(|(_, values)| !values.is_empty());
        let shown: Vec<String> =
            given.map(|(field, values)| format!("{field}:{}", quoted(values))).collect();
        format!("{{{}}}", shown.join(", "))
    }

    /// As reviews show it: the part about resources, and the part about paths.
    pub(crate) fn info(&self) -> [Option<Value>; 2] {
        let Self { verbs, groups, resources, names, urls } = self;
        let shown = |fields: &[(&str, &Vec<String>)]| -> Value {
            let given = fields.iter().filter(|(_, values)| !values.is_empty());
            given
                .map(|(field, values)| ((*field).to_owned(), Value::from((*values).clone())))
                .collect::<Map<_, _>>()
                .into()
        };
        let of_resources = [
            ("verbs", verbs),
            ("apiGroups", groups),
            ("resources", resources),
            ("resourceNames", names),
        ];
        let of_urls = [("verbs", verbs), ("nonResourceURLs", urls)];
        [
            (!resources.is_empty()).then(|| shown(&of_resources)),
            (!urls.is_empty()).then(|| shown(&of_urls)),
        ]
    }
}

/// Whether a path is one of those that a rule names.
pub(super) fn covers_url(named: &str, path: &str) -> bool {
    named == path || named.ends_with('*') && path.starts_with(named.trim_end_matches('*'))
}

fn lists(values: &[String], value: &str) -> bool {
    values.iter().any(|known| known == ALL || known == value)
}

/// A list of texts as a Go program prints it.
pub(super) fn quoted(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| quote(value)).collect();
    format!("[{}]", quoted.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rbac::attributes::ResourceTarget;

    fn on(verb: &str, group: &str, resource: &str, name: &str) -> Attributes {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let target = ResourceTarget {
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            name: name.to_owned(),
            ..ResourceTarget::default()
        };
        Attributes::resource(verb, target)
    }

    #[test]
    fn a_rule_allows_what_it_names() {
        let rule = |groups: &[&str], resources: &[&str], names: &[&str]| {
            Rule::read(&json!({
                "verbs": ["get", "list"], "apiGroups": groups, "resources": resources,
                "resourceNames": names,
            }))
        };
        let pods = rule(&[""], &["pods"], &[]);
        assert!(pods.allows(&on("get", "", "pods", "a")));
        assert!(!pods.allows(&on("delete", "", "pods", "a")));
        assert!(!pods.allows(&on("get", "apps", "pods", "a")));
        assert!(!pods.allows(&on("get", "", "pods/log", "a")));
        let parts = rule(&["*"], &["*/scale", "pods/log"], &[]);
        assert!(parts.allows(&on("get", "apps", "deployments/scale", "a")));
        assert!(parts.allows(&on("get", "", "pods/log", "a")));
        assert!(!parts.allows(&on("get", "", "pods", "a")));
        let named = rule(&[""], &["*"], &["a"]);
        assert!(named.allows(&on("get", "", "secrets/x", "a")));
        assert!(!named.allows(&on("list", "", "secrets", "")));
    }

    #[test]
    fn a_path_is_allowed_by_itself_or_by_its_beginning() {
        let rule = Rule::read(&json!({"verbs": ["get"], "nonResourceURLs": ["/a", "/b/*"]}));
        let allows = |path: &str| {
            let target = Target::Path(path.to_owned());
            rule.allows(&Attributes { verb: "get".to_owned(), target })
        };
        assert!(allows("/a") && allows("/b/") && allows("/b/c/d"));
        assert!(!allows("/a/b") && !allows("/b") && !allows("/"));
        assert!(Rule::everything()[1].allows(&Attributes {
            verb: "post".to_owned(),
            target: Target::Path("/x".to_owned()),
        }));
    }

    #[test]
    fn a_rule_is_shown_with_what_it_has() {
        let rule = Rule::read(&json!({
            "verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"],
        }));
        let expected = r#"{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}"#;
        assert_eq!(rule.shown(), expected);
        assert_eq!(rule.info()[1], None);
    }
}
