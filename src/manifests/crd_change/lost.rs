//! What is lost where several versions are served without a conversion: the API server then only writes another
//! `apiVersion`, and drops what the schema of the version does not have.

use serde_json::Value;

use super::{
    change::{CrdChange, Verdict},
    schema::schema,
    version::{name, schema_of},
};

/// Of a version that is added beside the stored one.
pub(super) fn lost(crd: &str, stored: &Value, added: &Value) -> Vec<CrdChange> {
    let (stored_name, added_name) = (name(stored), name(added));
    let convert =
        format!("convert between {stored_name} and {added_name}: SupervisorBuilder::versions");
    let forth = schema(schema_of(stored), schema_of(added)).all.into_iter();
    let forth = forth.filter(|found| found.verdict == Verdict::Breaks || found.is_loss).map(|found| {
        let change = if found.is_loss {
            format!("objects of {stored_name} lose it when they are written as {added_name}, without a conversion")
        } else {
            format!("objects of {stored_name} do not fit, without a conversion: {}", found.change)
        };
        breaking(crd, added_name, found.path, change, &convert)
    });
    let back = schema(schema_of(added), schema_of(stored)).all.into_iter();
    let back = back.filter(|found| found.is_loss).map(|found| {
        let change =
            format!("{stored_name}, which is stored, cannot hold it, without a conversion");
        breaking(crd, added_name, found.path, change, &convert)
    });
    forth.chain(back).collect()
}

fn breaking(crd: &str, version: &str, path: String, change: String, remedy: &str) -> CrdChange {
    CrdChange {
        verdict: Verdict::Breaks,
        crd: crd.to_owned(),
        version: Some(version.to_owned()),
        path,
        change,
        remedy: remedy.to_owned(),
    }
}
