//! The definitions in a file: from text to the parts that types are made of.

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;

/// One version of a CRD.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) scope: Scope,
    /// `openAPIV3Schema`.
    pub(crate) schema: Value,
}

/// Where objects of a type live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Namespaced,
    Cluster,
}

/// What is common to the definitions of a file, for errors.
struct Source<'a> {
    path: &'a str,
    name: &'a str,
}

/// The definitions of a file, in their order. Other documents are ignored.
///
/// Without `version` each has its storage version if that is served, else the first served one.
pub(crate) fn definitions(
    path: &str,
    text: &str,
    version: Option<&str>,
) -> Result<Vec<Definition>, Error> {
    let mut found = Vec::new();
    for document in serde_yaml_ng::Deserializer::from_str(text) {
        let document = Value::deserialize(document)
            .map_err(|source| Error::ParseFailed { path: path.to_owned(), source })?;
        for object in objects(&document) {
            found.push(definition(path, object, version)?);
        }
    }
    if found.is_empty() {
        return Err(Error::NoDefinition { path: path.to_owned() });
    }
    Ok(found)
}

/// The definitions of a document, which may be a list as `kubectl get` prints it.
fn objects(document: &Value) -> Vec<&Value> {
    if is_definition(document) {
        return vec![document];
    }
    let items = document["items"].as_array().into_iter().flatten();
    items.filter(|item| is_definition(item)).collect()
}

fn is_definition(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
        && object["apiVersion"] == "apiextensions.k8s.io/v1"
}

fn definition(path: &str, object: &Value, version: Option<&str>) -> Result<Definition, Error> {
    let name = object["metadata"]["name"].as_str().unwrap_or("without a name");
    let source = Source { path, name };
    let spec = &object["spec"];
    let version = source.choose(spec, version)?;
    let version_name = source.text(&version["name"], "spec.versions[].name")?;
    let schema = &version["schema"]["openAPIV3Schema"];
    if !schema.is_object() {
        let (path, name, version) = (path.to_owned(), name.to_owned(), version_name);
        return Err(Error::NoSchema { path, name, version });
    }
    Ok(Definition {
        group: source.text(&spec["group"], "spec.group")?,
        version: version_name,
        kind: source.text(&spec["names"]["kind"], "spec.names.kind")?,
        plural: source.text(&spec["names"]["plural"], "spec.names.plural")?,
        scope: source.scope(spec)?,
        schema: schema.clone(),
    })
}

impl Source<'_> {
    fn choose<'a>(&self, spec: &'a Value, wanted: Option<&str>) -> Result<&'a Value, Error> {
        let versions = spec["versions"].as_array().into_iter().flatten();
        let served: Vec<_> = versions.filter(|version| version["served"] == true).collect();
        let Some(wanted) = wanted else {
            let stored = served.iter().find(|version| version["storage"] == true);
            let chosen = stored.or(served.first()).copied();
            return chosen.ok_or_else(|| self.incomplete("version that is served"));
        };
        let chosen = served.iter().find(|version| version["name"] == wanted).copied();
        chosen.ok_or_else(|| Error::UnknownVersion {
            path: self.path.to_owned(),
            name: self.name.to_owned(),
            version: wanted.to_owned(),
            served: names(&served),
        })
    }

    fn scope(&self, spec: &Value) -> Result<Scope, Error> {
        match spec["scope"].as_str() {
            Some("Namespaced") => Ok(Scope::Namespaced),
            Some("Cluster") => Ok(Scope::Cluster),
            _ => Err(self.incomplete("spec.scope that is Namespaced or Cluster")),
        }
    }

    fn text(&self, value: &Value, field: &'static str) -> Result<String, Error> {
        let text = value.as_str().filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| self.incomplete(field))
    }

    fn incomplete(&self, field: &'static str) -> Error {
        Error::Incomplete { path: self.path.to_owned(), name: self.name.to_owned(), field }
    }
}

fn names(served: &[&Value]) -> String {
    let names: Vec<_> = served.iter().filter_map(|version| version["name"].as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A definition whose versions are `name: "served storage"`.
    fn file(versions: &[(&str, bool, bool)]) -> String {
        let version = |(name, served, storage): &(&str, bool, bool)| {
            format!(
                "  - {{name: {name}, served: {served}, storage: {storage}, \
                 schema: {{openAPIV3Schema: {{type: object, description: {name}}}}}}}\n"
            )
        };
        let versions: String = versions.iter().map(version).collect();
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: cups.example.dev}}\nspec:\n  group: example.dev\n  scope: Cluster\n\
             \x20 names: {{kind: Cup, plural: cups}}\n  versions:\n{versions}"
        )
    }

    fn version_of(text: &str, version: Option<&str>) -> Result<String, String> {
        let found = definitions("cups.yaml", text, version).map_err(|error| error.to_string())?;
        assert_eq!(found[0].schema["description"], found[0].version);
        Ok(found[0].version.clone())
    }

    #[test]
    fn the_storage_version_is_chosen_if_it_is_served_and_else_the_first_that_is() {
        let all = file(&[("v1alpha1", true, false), ("v1", true, true), ("v2", true, false)]);
        assert_eq!(version_of(&all, None).unwrap(), "v1");
        assert_eq!(version_of(&all, Some("v2")).unwrap(), "v2");
        let unserved =
            file(&[("v1alpha1", false, false), ("v1", false, true), ("v2", true, false)]);
        assert_eq!(version_of(&unserved, None).unwrap(), "v2");
        let error = version_of(&unserved, Some("v1")).unwrap_err();
        assert_eq!(
            error,
            "the CustomResourceDefinition cups.example.dev in cups.yaml serves no version v1: it serves v2"
        );
    }

    #[test]
    fn a_file_may_have_several_documents_or_a_list_and_what_is_no_definition_is_ignored() {
        let cup = file(&[("v1", true, true)]);
        let plate = cup.replace("Cup", "Plate").replace("cups", "plates");
        let documents =
            format!("---\n{cup}---\napiVersion: v1\nkind: Namespace\n---\n{plate}---\n");
        let kinds = |text: &str| -> Vec<String> {
            let found = definitions("all.yaml", text, None).unwrap();
            found.into_iter().map(|definition| definition.kind).collect()
        };
        assert_eq!(kinds(&documents), ["Cup", "Plate"]);
        let cup: Value = serde_yaml_ng::from_str(&cup).unwrap();
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [cup, {}]});
        assert_eq!(kinds(&list.to_string()), ["Cup"], "also as JSON");
    }

    #[test]
    fn an_error_says_what_is_wrong_with_which_file_and_what_to_do() {
        let good = file(&[("v1", true, true)]);
        for (text, expected) in [
            (String::new(), "cups.yaml has no CustomResourceDefinition of apiextensions.k8s.io/v1"),
            ("kind: Pod".to_owned(), "kubectl get crd NAME -o yaml"),
            ("{{- if .Values.crds }}".to_owned(), "cups.yaml is no YAML or JSON: "),
            (
                good.replace("openAPIV3Schema", "other"),
                "version v1 of the CustomResourceDefinition cups.example.dev in cups.yaml has no schema",
            ),
            (
                good.replace("group: example.dev", "group: ''"),
                "cups.example.dev in cups.yaml has no spec.group: add it",
            ),
            (
                good.replace("scope: Cluster", "scope: World"),
                "has no spec.scope that is Namespaced or Cluster",
            ),
            (good.replace("served: true", "served: false"), "has no version that is served"),
        ] {
            let error = version_of(&text, None).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
