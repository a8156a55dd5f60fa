//! `crds --check`: what changes from the committed CRDs to those of the program, and whether that is safe.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use super::{
    ask::args::Output,
    documents,
    table::{Table, message},
};
use crate::{
    manifests::{CrdChange, Verdict, crd_changes},
    object::{legible_json, legible_yaml},
};

/// The exit code where a change is not safe; that of an error is 1.
const UNSAFE: u8 = 2;

/// Prints the changes. Where only some of the operators are chosen, other CRDs of the file are not looked at.
pub(super) fn check(
    file: &Path,
    output: Output,
    crds: &[CustomResourceDefinition],
    only: &[String],
) -> anyhow::Result<ExitCode> {
    let mut committed = documents::read("--check", file)?;
    committed.retain(|object| object["kind"] == "CustomResourceDefinition");
    if committed.is_empty() {
        anyhow::bail!("--check {}: there is no CustomResourceDefinition in it", file.display());
    }
    if !only.is_empty() {
        committed.retain(|old| crds.iter().any(|new| is_of(old, new)));
    }
    let changes = crd_changes(&committed, crds)?;
    io::stdout().write_all(printed(&changes, output)?.as_bytes())?;
    let is_safe = changes.iter().all(|change| change.verdict == Verdict::Safe);
    Ok(if is_safe { ExitCode::SUCCESS } else { ExitCode::from(UNSAFE) })
}

fn is_of(old: &Value, new: &CustomResourceDefinition) -> bool {
    old["metadata"]["name"].as_str() == new.metadata.name.as_deref()
}

fn printed(changes: &[CrdChange], output: Output) -> anyhow::Result<String> {
    Ok(match output {
        Output::Json => legible_json(&changes)?,
        Output::Yaml => legible_yaml(&changes)?,
        Output::Table | Output::Wide if changes.is_empty() => "Nothing changes.\n".to_owned(),
        Output::Table | Output::Wide => table(changes, output == Output::Wide),
    })
}

fn table(changes: &[CrdChange], is_wide: bool) -> String {
    let mut table = Table::new(&["VERDICT", "TYPE", "VERSION", "PATH", "CHANGE", "WHAT TO DO"]);
    for change in changes {
        let CrdChange { verdict, crd, version, path, change, remedy } = change;
        table.row([
            verdict.as_str().to_owned(),
            crd.clone(),
            version.clone().unwrap_or_default(),
            path.clone(),
            message(change, is_wide),
            remedy.clone(),
        ]);
    }
    table.print()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(verdict: Verdict) -> CrdChange {
        CrdChange {
            verdict,
            crd: "shops.example.com".to_owned(),
            version: Some("v1".to_owned()),
            path: ".spec.a".to_owned(),
            change: "the field is removed".to_owned(),
            remedy: "keep it".to_owned(),
        }
    }

    #[test]
    fn a_change_is_a_line_or_an_object_and_no_change_is_said() {
        let changes = [change(Verdict::Breaks)];
        assert_eq!(
            printed(&changes, Output::Table).unwrap(),
            "VERDICT   TYPE                VERSION   PATH      CHANGE                 WHAT TO DO\n\
             breaks    shops.example.com   v1        .spec.a   the field is removed   keep it\n"
        );
        let json: Value = serde_json::from_str(&printed(&changes, Output::Json).unwrap()).unwrap();
        assert_eq!((&json[0]["verdict"], &json[0]["path"]), (&"breaks".into(), &".spec.a".into()));
        assert_eq!(printed(&[], Output::Table).unwrap(), "Nothing changes.\n");
        assert_eq!(printed(&[], Output::Json).unwrap().trim(), "[]");
    }

    #[test]
    fn the_exit_code_is_2_unless_all_is_safe_and_other_documents_are_not_looked_at() {
        let folder = operetta_harness::Folder::new();
        let file = folder.join("crds.yaml");
        let new: CustomResourceDefinition = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "shops.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Shop", "plural": "shops"}, "versions": []},
        }))
        .unwrap();
        let text = |group: &str| {
            format!(
                "kind: CustomResourceDefinition\nmetadata: {{name: shops.example.com}}\n\
                 spec: {{group: {group}, scope: Namespaced, names: {{kind: Shop, plural: shops}}}}\n\
                 ---\nkind: Namespace\n"
            )
        };
        let checked = |text: &str, only: &[String]| {
            std::fs::write(&file, text).unwrap();
            check(&file, Output::Table, std::slice::from_ref(&new), only)
        };
        assert_eq!(checked(&text("example.com"), &[]).unwrap(), ExitCode::SUCCESS);
        assert_eq!(checked(&text("example.org"), &[]).unwrap(), ExitCode::from(2));
        let other = text("example.com").replace("shops.", "tills.");
        assert_eq!(checked(&other, &[]).unwrap(), ExitCode::from(2), "it is gone");
        assert_eq!(checked(&other, &["a".to_owned()]).unwrap(), ExitCode::SUCCESS);
        let error = checked("kind: Namespace\n", &[]).unwrap_err().to_string();
        assert!(error.contains("there is no CustomResourceDefinition"), "{error}");
    }
}
