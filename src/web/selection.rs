//! Selects cached objects: `?namespace=`, `?labelSelector=` and `?fieldSelector=`, as in the Kubernetes
//! API. Only the fields that every type has are supported.

use serde::Deserialize;

use super::{endpoint::Parameter, status::Refused};
use crate::object::{K8sType, LabelSelector, Object};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SelectionQuery {
    namespace: Option<String>,
    label_selector: Option<String>,
    field_selector: Option<String>,
}

#[derive(Debug)]
pub(super) struct Selection {
    namespace: Option<String>,
    labels: Option<LabelSelector>,
    fields: Vec<FieldTerm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldTerm {
    field: Field,
    is_equal: bool,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Name,
    Namespace,
}

pub(super) const NAMESPACE: Parameter =
    Parameter::text("namespace", "only those in this namespace");

pub(super) const LABEL_SELECTOR: Parameter = Parameter::text(
    "labelSelector",
    "only those with these labels: `tier=gold,!legacy,zone in (a,b)`",
);

pub(super) const FIELD_SELECTOR: Parameter = Parameter::text(
    "fieldSelector",
    "only those with these fields: `metadata.name=a`, `metadata.namespace!=b`",
);

impl SelectionQuery {
    pub(super) fn check(self, ty: &K8sType) -> Result<Selection, Refused> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let namespace = given(self.namespace);
        if namespace.is_some() && !ty.is_namespaced() {
            let message = format!("namespace: {} are cluster-scoped", ty.resource_name());
            return Err(Refused::BadRequest(message));
        }
        let labels = given(self.label_selector);
        let labels = labels.map(|text| LabelSelector::parse(&text)).transpose();
        let labels =
            labels.map_err(|error| Refused::BadRequest(format!("labelSelector: {error}")))?;
        let fields = given(self.field_selector).unwrap_or_default();
        let terms = fields.split(',').map(str::trim).filter(|term| !term.is_empty());
        let fields = terms.map(FieldTerm::parse).collect::<Result<_, _>>()?;
        Ok(Selection { namespace, labels, fields })
    }
}

impl Selection {
    /// Whether the object is selected. Labels come last: they are read from its JSON.
    pub(super) fn holds(&self, object: &Object) -> bool {
        self.namespace.as_deref().is_none_or(|wanted| object.namespace() == Some(wanted))
            && self.fields.iter().all(|term| term.holds(object))
            && self.labels.as_ref().is_none_or(|labels| labels.matches(&object.labels()))
    }

    /// A text that identifies the selection.
    pub(super) fn words(&self) -> String {
        let Self { namespace, labels, fields } = self;
        let labels = labels.as_ref().map(LabelSelector::as_str);
        format!("namespace={namespace:?} labels={labels:?} fields={fields:?}")
    }
}

impl FieldTerm {
    fn parse(term: &str) -> Result<Self, Refused> {
        let refused = |why: String| Refused::BadRequest(format!("fieldSelector: `{term}` {why}"));
        let (field, is_equal, value) = if let Some((field, value)) = term.split_once("!=") {
            (field, false, value)
        } else if let Some((field, value)) = term.split_once('=') {
            (field, true, value.strip_prefix('=').unwrap_or(value))
        } else {
            return Err(refused("is not FIELD=VALUE or FIELD!=VALUE".to_owned()));
        };
        let field = match field.trim() {
            "metadata.name" => Field::Name,
            "metadata.namespace" => Field::Namespace,
            _ => {
                return Err(refused(
                    "has an unsupported field: use metadata.name or \
                     metadata.namespace"
                        .to_owned(),
                ));
            }
        };
        Ok(Self { field, is_equal, value: value.trim().to_owned() })
    }

    fn holds(&self, object: &Object) -> bool {
        let live = match self.field {
            Field::Name => object.name(),
            Field::Namespace => object.namespace().unwrap_or_default(),
        };
        (live == self.value) == self.is_equal
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::KeptManagers;

    fn pods() -> K8sType {
        K8sType::namespaced("v1", "Pod", "pods")
    }

    fn asked(query: &str) -> SelectionQuery {
        actix_web::web::Query::<SelectionQuery>::from_query(query).unwrap().into_inner()
    }

    fn selection(query: &str) -> Result<Selection, Refused> {
        asked(query).check(&pods())
    }

    fn pod() -> Object {
        let metadata = json!({
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1",
            "labels": {"tier": "gold"},
        });
        let value = json!({"metadata": metadata});
        Object::from_value(&pods(), &value, &KeptManagers::default()).unwrap()
    }

    #[test]
    fn an_object_is_selected_if_all_terms_match() {
        for (query, is_wanted) in [
            ("", true),
            ("namespace=ns", true),
            ("namespace=other", false),
            ("namespace=&labelSelector=&fieldSelector=", true),
            ("labelSelector=tier%3Dgold", true),
            ("labelSelector=!tier", false),
            ("fieldSelector=metadata.name%3Da", true),
            ("fieldSelector=metadata.name%3D%3Da,metadata.namespace!%3Dns", false),
            ("fieldSelector=metadata.name!%3Db", true),
            ("fieldSelector=metadata.name%3Da&labelSelector=tier%3Dsilver", false),
        ] {
            assert_eq!(selection(query).unwrap().holds(&pod()), is_wanted, "{query}");
        }
    }

    #[test]
    fn an_invalid_selector_is_refused_with_the_name_of_its_parameter() {
        for (query, parameter) in [
            ("labelSelector=a+in+(", "labelSelector"),
            ("fieldSelector=metadata.name", "fieldSelector"),
            ("fieldSelector=spec.nodeName%3Da", "fieldSelector"),
        ] {
            let message = selection(query).unwrap_err().to_string();
            assert!(message.starts_with(parameter), "{message}");
        }
        let nodes = K8sType::cluster_scoped("v1", "Node", "nodes");
        assert!(
            asked("namespace=a")
                .check(&nodes)
                .unwrap_err()
                .to_string()
                .contains("nodes are cluster-scoped")
        );
    }

    #[test]
    fn the_text_of_a_selection_is_unique() {
        let words = |query| selection(query).unwrap().words();
        assert_eq!(
            words("fieldSelector=metadata.name%3Da"),
            words("fieldSelector=metadata.name==a")
        );
        assert_ne!(words("namespace=a"), words("namespace=b"));
        assert_ne!(words(""), words("labelSelector=a"));
    }

    #[test]
    fn any_query_selects_or_is_refused() {
        const TOKENS: [&str; 14] = [
            "namespace=",
            "labelSelector=",
            "fieldSelector=",
            "&",
            "metadata.name",
            "=",
            "%3D",
            "!",
            ",",
            "a",
            "%",
            "+in+(",
            ")",
            "%ff",
        ];
        operetta_harness::random::texts(&TOKENS, |text| {
            let Ok(query) = actix_web::web::Query::<SelectionQuery>::from_query(text) else {
                return;
            };
            if let Ok(selection) = query.into_inner().check(&pods()) {
                let _ = (selection.holds(&pod()), selection.words());
            }
        });
    }
}
