//! What the binary prints and writes for a cluster.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{cluster::new_folder, program::output};

#[operetta_harness::test]
async fn it_prints_the_manifests_that_are_committed() {
    for name in ["crds", "rbac"] {
        let (code, printed, stderr) = output(&[name]).await;
        assert_eq!((code, &*stderr), (Some(0), ""));
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
        let committed = std::fs::read_to_string(deploy.join(format!("{name}.yaml"))).unwrap();
        assert_eq!(printed, committed);
    }
}

/// The files that `manifests` writes with these flags, by their paths.
async fn manifests(flags: &[&str]) -> BTreeMap<PathBuf, String> {
    let folder = new_folder();
    let out = folder.to_str().unwrap();
    let (code, printed, stderr) = output(&[&["manifests", "--out", out], flags].concat()).await;
    assert_eq!((code, &*stderr), (Some(0), ""));
    let file = |path: &str| {
        let text = std::fs::read_to_string(path).unwrap();
        (Path::new(path).strip_prefix(&folder).unwrap().to_owned(), text)
    };
    printed.lines().map(file).collect()
}

#[operetta_harness::test]
async fn it_writes_the_files_that_are_committed() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    for flags in [&[][..], &["--helm"]] {
        for (path, text) in manifests(flags).await {
            let committed = std::fs::read_to_string(deploy.join(&path)).unwrap_or_default();
            assert_eq!(committed, text, "cargo run -- manifests {}", flags.join(" "));
        }
    }
}

/// A process that runs others would lack their permissions.
#[operetta_harness::test]
async fn operators_that_are_not_chosen_are_in_no_file() {
    let mut files = manifests(&["--only", "echo-server"]).await;
    files.extend(manifests(&["--only", "echo-server", "--helm"]).await);
    for (path, text) in &files {
        assert!(!text.contains("databases"), "{}: {text}", path.display());
    }
    let text = |file: &str| &files[Path::new(file)];
    let of_kustomize = text("kustomize/base/operators.yaml");
    assert!(of_kustomize.contains("- --only=echo-server"), "{of_kustomize}");
    assert!(of_kustomize.contains("cargo run -- manifests --only=echo-server"), "{of_kustomize}");
    // The values may choose fewer.
    let of_chart = text("helm/operetta/templates/_helpers.tpl");
    assert!(of_chart.contains(r#".Values.operators | default (list "echo-server")"#), "{of_chart}");
    let restricted = Path::new("kustomize/overlays/one-namespace/rbac.yaml");
    assert!(files.contains_key(restricted));
    let unrestricted = manifests(&["--only", "temp-namespace"]).await;
    assert!(!unrestricted.contains_key(restricted), "its parents have no namespace");
}

#[operetta_harness::test]
async fn what_it_prints_is_about_the_operators_that_are_chosen() {
    for name in ["crds", "rbac"] {
        let (code, printed, stderr) = output(&[name, "--only", "echo-server"]).await;
        assert_eq!((code, &*stderr), (Some(0), ""));
        assert!(printed.contains("echoservers") && !printed.contains("databases"), "{printed}");
        assert!(printed.contains(&format!("cargo run -- {name} --only=echo-server")), "{printed}");
        let (code, _, stderr) = output(&[name, "--only", "nobody"]).await;
        assert!(code == Some(1) && stderr.contains("there is no operator `nobody`"), "{stderr}");
    }
    let (_, printed, _) = output(&["rbac", "--namespaces", "a"]).await;
    assert!(!printed.contains("tempnamespaces"), "it does not run there: {printed}");
}

#[operetta_harness::test]
async fn its_crds_are_checked_against_committed_ones() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/crds.yaml");
    let (code, printed, _) = output(&["crds", "--check", committed.to_str().unwrap()]).await;
    assert_eq!((code, &*printed), (Some(0), "Nothing changes.\n"));

    // As if the field were new, and another one removed.
    let text = std::fs::read_to_string(&committed).unwrap();
    let old = text.replace("serviceName", "service");
    assert_ne!(text, old);
    let file = new_folder().join("crds.yaml");
    std::fs::write(&file, old).unwrap();
    let check = ["crds", "--check", file.to_str().unwrap()];
    let (code, printed, _) = output(&check).await;
    assert_eq!(code, Some(2), "{printed}");
    let line = |path: &str| printed.lines().find(|line| line.contains(path)).unwrap().to_owned();
    assert!(line(".spec.serviceName").starts_with("breaks"), "{printed}");
    assert!(line(".spec.service ").contains("the field is removed"), "{printed}");
    let (code, printed, _) = output(&[&check[..], &["--output", "json"]].concat()).await;
    let changes: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &changes[0]["verdict"]), (Some(2), &"breaks".into()));
    let (code, ..) = output(&[&check[..], &["--only", "database"]].concat()).await;
    assert_eq!(code, Some(0), "other types are not looked at");
}
