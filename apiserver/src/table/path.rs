//! The JSON paths of printer columns, in the dialect of Kubernetes.

use jsonpath_rust::{
    parser::{model::JpQuery, parse_json_path},
    query::{QueryRef, js_path_process},
};
use serde_json::Value;

/// A parsed path; an invalid one finds nothing.
pub(crate) struct Path(Option<JpQuery>);

impl Path {
    /// Parses `.spec.replicas` and the like.
    pub(crate) fn parse(text: &str) -> Self {
        Self(parse_json_path(&format!("${}", standard(text))).ok())
    }

    /// Whether the path is valid.
    pub(crate) fn is_valid(&self) -> bool {
        self.0.is_some()
    }

    /// The first value at the path.
    pub(crate) fn first<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        let found = js_path_process(self.0.as_ref()?, object).ok()?;
        found.into_iter().next().map(QueryRef::val)
    }
}

/// Kubernetes escapes dots within a name, the standard puts such names into brackets.
fn standard(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\.") {
        let start = rest[..at].rfind('.').unwrap_or(0);
        let (before, name) = rest.split_at(start);
        let name = name.trim_start_matches('.');
        let end = name_end(name);
        out.push_str(before);
        out.extend(["['", &name[..end].replace("\\.", "."), "']"]);
        rest = &name[end..];
    }
    out.push_str(rest);
    out
}

/// Where a name with escaped dots ends.
fn name_end(name: &str) -> usize {
    let bytes = name.as_bytes();
    let ends = |&at: &usize| {
        matches!(bytes[at], b'[') || (bytes[at] == b'.' && (at == 0 || bytes[at - 1] != b'\\'))
    };
    (0..bytes.len()).find(ends).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_find_fields_elements_and_filtered_elements() {
        let object = json!({
            "spec": {"n": 3, "list": [{"a": 1}]},
            "metadata": {"labels": {"app.kubernetes.io/name": "x"}},
            "status": {"conditions": [
                {"type": "Other", "status": "False"},
                {"type": "Ready", "status": "True"},
            ]},
        });
        let cases = [
            (".spec.n", json!(3)),
            (".spec.list[0].a", json!(1)),
            (r".metadata.labels.app\.kubernetes\.io/name", json!("x")),
            (r#".status.conditions[?(@.type=="Ready")].status"#, json!("True")),
            (".status.conditions[?(@.type=='Ready')].status", json!("True")),
        ];
        for (path, expected) in cases {
            assert_eq!(Path::parse(path).first(&object), Some(&expected), "{path}");
        }
        assert_eq!(Path::parse(".spec.none").first(&object), None);
    }
}
