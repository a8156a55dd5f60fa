//! Custom types, and the migration of what is stored.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::column::{BuiltInColumn, CREATED_AT, NAME};
use crate::table::{
    cells,
    cells::{list, text},
};

pub(super) const DEFINITION: &[BuiltInColumn] = &[
    NAME,
    ("Scope", "string", 0, |o, _| cells::or_empty(&o["spec"]["scope"])),
    ("Versions", "string", 0, versions),
    CREATED_AT,
    ("Group", "string", 1, |o, _| cells::or_empty(&o["spec"]["group"])),
    ("Kind", "string", 1, |o, _| cells::or_empty(&o["spec"]["names"]["kind"])),
    ("ShortNames", "string", 1, short_names),
    ("Established", "boolean", 1, established),
];

pub(super) const MIGRATION: &[BuiltInColumn] =
    &[NAME, ("Resource", "string", 0, migrated), ("Status", "string", 0, state_of_migration)];

fn versions(definition: &Value, _: Timestamp) -> Value {
    let served = list(&definition["spec"]["versions"]).filter(|version| version["served"] == true);
    let mut names: Vec<String> = served
        .map(|version| {
            let stored = if version["storage"] == true { "(storage)" } else { "" };
            format!("{}{stored}", text(&version["name"]).unwrap_or_default())
        })
        .collect();
    names.sort();
    json!(names.join(","))
}

fn short_names(definition: &Value, _: Timestamp) -> Value {
    let names = list(&definition["spec"]["names"]["shortNames"]).filter_map(Value::as_str);
    json!(names.collect::<Vec<_>>().join(","))
}

fn established(definition: &Value, _: Timestamp) -> Value {
    json!(true_conditions(definition).any(|name| name == "Established"))
}

fn migrated(migration: &Value, _: Timestamp) -> Value {
    let resource = &migration["spec"]["resource"];
    let name = text(&resource["resource"]).unwrap_or_default();
    match text(&resource["group"]) {
        Some(group) => json!(format!("{name}.{group}")),
        None => json!(name),
    }
}

fn state_of_migration(migration: &Value, _: Timestamp) -> Value {
    let states = ["Running", "Failed", "Succeeded"];
    let state = true_conditions(migration).filter(|name| states.contains(name)).last();
    json!(state.unwrap_or("Unknown"))
}

fn true_conditions(object: &Value) -> impl Iterator<Item = &str> {
    let conditions = list(&object["status"]["conditions"]);
    conditions.filter(|it| it["status"] == "True").filter_map(|it| text(&it["type"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(columns: &[BuiltInColumn], object: &Value) -> Vec<Value> {
        columns.iter().map(|(.., cell)| cell(object, Timestamp::UNIX_EPOCH)).collect()
    }

    #[test]
    fn a_definition_shows_its_served_versions_and_whether_it_is_established() {
        let object = json!({
            "metadata": {"name": "kites.example.com", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Kite", "plural": "kites", "shortNames": ["ki", "kt"]},
                "versions": [
                    {"name": "v2", "served": true, "storage": true},
                    {"name": "v1", "served": true, "storage": false},
                    {"name": "v0", "served": false, "storage": false},
                ],
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        });
        let expected = json!([
            "kites.example.com",
            "Namespaced",
            "v1,v2(storage)",
            "2026-01-01T00:00:00Z",
            "example.com",
            "Kite",
            "ki,kt",
            true
        ]);
        assert_eq!(json!(cells(DEFINITION, &object)), expected);
    }

    #[test]
    fn a_migration_shows_the_last_state_that_is_true() {
        let object = json!({
            "metadata": {"name": "m"},
            "spec": {"resource": {"group": "apps", "resource": "deployments"}},
            "status": {"conditions": [
                {"type": "Running", "status": "False"}, {"type": "Succeeded", "status": "True"},
            ]},
        });
        assert_eq!(json!(cells(MIGRATION, &object)), json!(["m", "deployments.apps", "Succeeded"]));
        assert_eq!(cells(MIGRATION, &json!({}))[2], "Unknown");
    }
}
