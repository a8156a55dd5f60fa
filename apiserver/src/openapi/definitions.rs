//! The definitions of built-in types from the data file, as texts that are never parsed as a whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read,
};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;

/// A definition or the parameters of a request a line: a name and JSON.
pub(super) const COMPRESSED: &[u8] = include_bytes!("../../data/openapi.gz");
/// What refers to a definition.
pub(super) const REFERENCE: &str = "#/components/schemas/";
/// Where the kinds of a definition are.
pub(super) const KINDS: &str = "x-kubernetes-group-version-kind";
/// Definitions that are of a kind in each group version; a document shows its own.
const EVERYWHERE: [&str; 2] = [
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent",
];

/// One parameter of a query.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Parameter {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) ty: String,
    #[serde(default)]
    pub(super) description: String,
}

/// The text of the data file.
pub(super) fn text() -> String {
    let mut text = String::new();
    let read = GzDecoder::new(COMPRESSED).read_to_string(&mut text);
    debug_assert!(read.is_ok(), "the data file is part of this program and tested with it");
    text
}

/// The lines of the data file by their names.
#[derive(Debug)]
pub(super) struct Definitions<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Definitions<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.lines().filter_map(|line| line.split_once(' ')).collect())
    }

    /// The JSON of a definition.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).copied()
    }

    /// The parameters of requests with these options, such as `list`.
    pub(super) fn parameters(&self, options: &str) -> Vec<Parameter> {
        let line = self.0.get(format!("?{options}").as_str());
        line.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// The name of the definition of a kind.
    pub(super) fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<&'a str> {
        let end = format!(".{version}.{kind}");
        let in_group = |json: &str| {
            serde_json::from_str::<Value>(json).is_ok_and(|schema| {
                let kinds = schema[KINDS].as_array().into_iter().flatten();
                let is = |it: &Value| {
                    it["group"] == group && it["version"] == version && it["kind"] == kind
                };
                kinds.clone().any(is)
            })
        };
        let mut named = self.0.iter().filter(|(name, _)| name.ends_with(&end));
        named.find(|(_, json)| in_group(json)).map(|(name, _)| *name)
    }

    /// The names that texts refer to, and those that their definitions refer to.
    pub(super) fn reached<'t>(&self, from: impl Iterator<Item = &'t String>) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&'a str> = from.flat_map(|text| self.referred(text)).collect();
        while let Some(name) = open.pop() {
            if reached.insert(name) {
                open.extend(self.get(name).map(|json| self.referred(json)).unwrap_or_default());
            }
        }
        reached
    }

    fn referred(&self, text: &str) -> Vec<&'a str> {
        let names = text.split(REFERENCE).skip(1).filter_map(|rest| rest.split('"').next());
        names.filter_map(|name| self.0.get_key_value(name).map(|(name, _)| *name)).collect()
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.0.keys().copied().filter(|name| !name.starts_with('?'))
    }

    /// The JSON of a definition, with those of its kinds that belong into a document.
    pub(super) fn shown(&self, name: &str, shows: &dyn Fn(&str, &str) -> bool) -> String {
        let json = self.get(name).unwrap_or("{}");
        if !EVERYWHERE.contains(&name) {
            return json.to_owned();
        }
        let mut schema: Value = serde_json::from_str(json).unwrap_or_default();
        if let Some(kinds) = schema[KINDS].as_array_mut() {
            let text =
                |kind: &Value, field: &str| kind[field].as_str().unwrap_or_default().to_owned();
            kinds.retain(|kind| shows(&text(kind, "group"), &text(kind, "version")));
        }
        schema.to_string()
    }
}
