//! One version of a CRD: whether and how it is served, its subresources and columns, and its schema.

use serde_json::Value;

use super::{
    change::{CrdChange, Verdict},
    schema::schema,
};

/// Two states of one version.
pub(super) struct Pair<'a> {
    pub(super) crd: &'a str,
    pub(super) old: &'a Value,
    pub(super) new: &'a Value,
}

pub(super) fn compare(pair: &Pair<'_>) -> Vec<CrdChange> {
    let of_schema = schema(schema_of(pair.old), schema_of(pair.new));
    let (described, all) = (of_schema.described, of_schema.all);
    let mut changes: Vec<CrdChange> =
        all.into_iter().map(|found| found.of(pair.crd, name(pair.old))).collect();
    changes.extend(served(pair));
    changes.extend(status(pair));
    changes.extend(scale(pair));
    changes.extend(selectable(pair));
    changes.extend(shown(pair, described));
    changes
}

pub(super) fn schema_of(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

pub(super) fn name(version: &Value) -> &str {
    version["name"].as_str().unwrap_or_default()
}

impl Pair<'_> {
    fn change(&self, verdict: Verdict, path: &str, change: &str, remedy: &str) -> CrdChange {
        CrdChange {
            verdict,
            crd: self.crd.to_owned(),
            version: Some(name(self.old).to_owned()),
            path: path.to_owned(),
            change: change.to_owned(),
            remedy: remedy.to_owned(),
        }
    }
}

fn served(pair: &Pair<'_>) -> Option<CrdChange> {
    match (pair.old["served"] == true, pair.new["served"] == true) {
        (true, false) => Some(pair.change(
            Verdict::NeedsVersion,
            "served",
            "the version is no longer served",
            "clients of it fail: mark it as deprecated one release before",
        )),
        (false, true) => Some(pair.change(
            Verdict::Safe,
            "served",
            "the version is served now",
            "the program must convert it",
        )),
        _ => None,
    }
}

fn status(pair: &Pair<'_>) -> Option<CrdChange> {
    let has = |version: &Value| version["subresources"].get("status").is_some();
    match (has(pair.old), has(pair.new)) {
        (true, false) => Some(pair.change(
            Verdict::NeedsVersion,
            "subresources.status",
            "the subresource is removed",
            "who writes the status by it fails, and updates of an object can change its status",
        )),
        (false, true) => Some(pair.change(
            Verdict::NeedsVersion,
            "subresources.status",
            "the subresource is added",
            "updates of an object no longer change its status: who writes it must use the subresource",
        )),
        _ => None,
    }
}

fn scale(pair: &Pair<'_>) -> Option<CrdChange> {
    let of = |version: &Value| version["subresources"].get("scale").cloned();
    let path = "subresources.scale";
    match (of(pair.old), of(pair.new)) {
        (Some(_), None) => Some(pair.change(
            Verdict::NeedsVersion,
            path,
            "the subresource is removed",
            "autoscalers and `kubectl scale` fail",
        )),
        (None, Some(_)) => Some(pair.change(
            Verdict::Safe,
            path,
            "the subresource is added",
            "autoscalers can use it",
        )),
        (Some(old), Some(new)) if old != new => Some(pair.change(
            Verdict::NeedsVersion,
            path,
            "the paths are changed",
            "autoscalers read and write other fields",
        )),
        _ => None,
    }
}

fn selectable(pair: &Pair<'_>) -> Vec<CrdChange> {
    let of = |version: &Value| -> Vec<String> {
        let fields = version["selectableFields"].as_array().into_iter().flatten();
        fields.filter_map(|field| Some(field["jsonPath"].as_str()?.to_owned())).collect()
    };
    let (old, new) = (of(pair.old), of(pair.new));
    let gone = old.iter().filter(|path| !new.contains(path)).map(|path| {
        let remedy = "watches and lists that select by it are refused";
        pair.change(Verdict::NeedsVersion, path, "the field can no longer be selected by", remedy)
    });
    let added = new.iter().filter(|path| !old.contains(path)).map(|path| {
        pair.change(Verdict::Safe, path, "the field can be selected by", "older servers cannot")
    });
    gone.chain(added).collect()
}

/// What people read.
fn shown(pair: &Pair<'_>, described: usize) -> Vec<CrdChange> {
    let differs = |name: &str| pair.old.get(name) != pair.new.get(name);
    let safe = |path: &str, change: &str| {
        pair.change(Verdict::Safe, path, change, "it is for people only")
    };
    let mut changes = Vec::new();
    if columns(pair.old) != columns(pair.new) {
        changes.push(safe("additionalPrinterColumns", "the columns are changed"));
    }
    if differs("deprecated") || differs("deprecationWarning") {
        changes.push(safe("deprecated", "whether the version is deprecated is changed"));
    }
    if described > 0 {
        let texts = if described == 1 { "text" } else { "texts" };
        changes.push(safe("schema", &format!("{described} {texts} of the schema changed")));
    }
    changes
}

/// None is like no columns.
fn columns(version: &Value) -> &[Value] {
    version["additionalPrinterColumns"].as_array().map_or(&[], Vec::as_slice)
}
