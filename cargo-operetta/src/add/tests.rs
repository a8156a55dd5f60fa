use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::*;
use crate::{
    files::{self, File, Source, write},
    format,
    names::Names,
};

/// A package as `cargo operetta new` writes it.
fn package(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    let names = Names::new("shop-operator", None, Some("shop.example.com".to_owned())).unwrap();
    for File { path, text } in files::of(&names, &Source::Published) {
        write(&folder.join(path), &text).unwrap();
    }
    folder
}

fn operator(kind: &str) -> Add {
    Add::Operator(Operator { kind: kind.to_owned(), group: None })
}

fn child(kind: &str, of: Option<&str>) -> Add {
    Add::Child(Child { kind: kind.to_owned(), of: of.map(str::to_owned) })
}

#[test]
fn another_operator_is_a_module_that_is_registered() {
    let folder = package("operetta-add-operator");
    add(operator("CashDesk"), &folder).unwrap();
    format(&folder);
    let text = |path| fs::read_to_string(folder.join(path)).unwrap();
    assert!(text("src/main.rs").contains("shop_operator::cash_desk::sync"));
    assert!(text("src/lib.rs").contains("\npub mod cash_desk;\n"));
    let module = text("src/cash_desk.rs");
    assert!(module.contains(r#"group = "shop.example.com", version = "v1alpha1""#), "{module}");
    assert!(text("tests/cash_desk.rs").contains("use shop_operator::cash_desk::{CashDesk"));
    assert!(text("examples/cashdesk.yaml").contains("kind: CashDesk\n"));
    let error = add(operator("CashDesk"), &folder).unwrap_err().to_string();
    assert_eq!(error, "src/cash_desk.rs exists: choose another kind, or remove it");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_child_type_is_declared_where_its_parents_are() {
    let folder = package("operetta-add-child");
    add(operator("Till"), &folder).unwrap();
    add(child("ConfigMap", None), &folder).unwrap();
    add(child("Job", Some("Till")), &folder).unwrap();
    add(child("Secret", Some("Shop")), &folder).unwrap();
    let text = |path| fs::read_to_string(folder.join(path)).unwrap();
    let (library, module) = (text("src/lib.rs"), text("src/till.rs"));
    assert!(library.contains("use k8s_openapi::api::core::v1::ConfigMap;\n"), "{library}");
    assert!(library.contains(".child::<Secret>(ChildConfig::apply())"), "{library}");
    assert!(library.contains("pub fn config_map(parent: &Shop) -> ConfigMap {"), "{library}");
    assert!(module.contains("/// The `Job` of a `Till`.\n"), "{module}");
    assert!(module.contains("pub fn job(parent: &Till) -> Job {"), "{module}");
    for (kind, of, expected) in [
        ("ConfigMap", None, "src/lib.rs has children of the kind ConfigMap"),
        ("Cat", None, "`Cat` is none of the kinds that are known here (ConfigMap, CronJob,"),
        ("Job", Some("Cat"), "src/lib.rs has the operator of Shop, and none of Cat"),
    ] {
        let error = add(child(kind, of), &folder).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

fn webhook(name: &str, of: Option<&str>, mutating: bool) -> Add {
    Add::Webhook(Webhook { name: name.to_owned(), of: of.map(str::to_owned), mutating })
}

fn version(version: &str, of: Option<&str>) -> Add {
    Add::Version(Version { version: version.to_owned(), of: of.map(str::to_owned) })
}

/// The files of a folder, by path.
fn all(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all(&path));
        } else {
            files.insert(path.clone(), fs::read_to_string(path).unwrap());
        }
    }
    files
}

/// What is added is refused with this text, and no file has changed.
fn assert_refused(folder: &Path, what: Add, expected: &str) {
    let before = all(folder);
    let error = add(what, folder).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
    assert!(all(folder) == before, "{error}, and files were written");
}

#[test]
fn a_webhook_is_a_module_that_is_registered_and_served() {
    let folder = package("operetta-add-webhook");
    add(operator("Till"), &folder).unwrap();
    add(webhook("short-names", None, false), &folder).unwrap();
    add(webhook("labels", Some("Till"), true), &folder).unwrap();
    format(&folder);
    let text = |path| fs::read_to_string(folder.join(path)).unwrap();
    let program = text("src/main.rs");
    assert_eq!(program.matches(".webhooks(\"0.0.0.0:9443\")").count(), 1, "{program}");
    for function in ["short_names", "labels"] {
        let call = format!(".webhook(shop_operator::webhooks::{function}::webhook())");
        assert!(program.contains(&call), "{program}");
    }
    assert!(text("Cargo.toml").contains("features = [\"certificates\", \"cli\"] }"));
    assert_eq!(text("src/lib.rs").matches("pub mod webhooks;").count(), 1);
    assert!(text("src/webhooks/mod.rs").contains("pub mod labels;\n\npub mod short_names;\n"));
    let labels = text("src/webhooks/labels.rs");
    assert!(labels.contains("Webhook::mutate(\"labels\", labels)"), "{labels}");
    assert!(labels.contains("use crate::till::Till;"), "{labels}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_new_version_keeps_the_one_before_and_still_stores_it() {
    let folder = package("operetta-add-version");
    add(version("v1", None), &folder).unwrap();
    format(&folder);
    let text = |path| fs::read_to_string(folder.join(path)).unwrap();
    let library = text("src/lib.rs");
    assert!(library.contains("version = \"v1\", kind = \"Shop\""), "{library}");
    assert!(library.contains("pub mod v1alpha1;\n"), "{library}");
    assert!(text("src/v1alpha1.rs").contains("version = \"v1alpha1\", kind = \"Shop\""));
    assert!(text("src/main.rs").contains(".versions(shop_operator::versions())"));
    assert!(text("Cargo.toml").contains("\"certificates\""));
    add(version("v2", None), &folder).unwrap();
    format(&folder);
    let library: String = text("src/lib.rs").split_whitespace().collect();
    let calls = "Versions::hub::<Shop>().version::<v1::Shop>().version::<v1alpha1::Shop>()\
                 .storing::<v1alpha1::Shop>().into()";
    assert!(library.contains(calls), "{library}");
    let program = text("src/main.rs");
    assert_eq!(program.matches(".versions(").count(), 1, "{program}");
    let refused = |name: &str, expected| assert_refused(&folder, version(name, None), expected);
    refused("v2", "src/lib.rs has the version v2 of Shop");
    refused("v1", "src/v1.rs exists: choose another version, or remove it");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_added_changes_nothing() {
    let folder = package("operetta-add-refused");
    let refused = |what, expected| assert_refused(&folder, what, expected);
    add(webhook("labels", None, true), &folder).unwrap();
    refused(webhook("labels", None, false), "src/webhooks/labels.rs exists: choose another name");
    refused(webhook("Labels", None, false), "`Labels` is no name of a webhook: ");
    refused(version("1", None), "`1` is no version: ");
    let unknown = "src/lib.rs has the operator of Shop, and none of Till: ";
    refused(webhook("names", Some("Till"), false), unknown);
    refused(version("v1", Some("Till")), unknown);

    let changed = |path: &str, from: &str, to: &str| {
        let path = folder.join(path);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(from, to)).unwrap();
    };
    changed("src/main.rs", ".register(", ".registered(");
    let unplaced = "`.register(` is not in src/main.rs: write `";
    refused(webhook("names", None, false), unplaced);
    refused(version("v1", None), unplaced);
    changed("src/main.rs", ".registered(", ".register(");
    changed("Cargo.toml", "operetta = {", "operetta  = {");
    let unplaced = "`operetta = { .., features = [..] }` is not in Cargo.toml: write `";
    refused(webhook("names", None, false), unplaced);
    refused(version("v1", None), unplaced);
    changed("Cargo.toml", "operetta  = {", "operetta = {");
    changed("src/lib.rs", "kind = \"Shop\"", "kind = \"Store\"");
    refused(version("v1", None), "src/lib.rs has no struct with `#[kube(");
    changed("examples/shop.yaml", "kind: Shop", "kind: Store");
    refused(webhook("names", None, false), "examples/shop.yaml has no Shop with a spec: write one");
    fs::remove_dir_all(folder).unwrap();
}

/// `compiled/added` has what is added to a second operator, whose type was changed before. It is compiled and tested there.
/// `UPDATE_EXPECT=1` writes it.
#[test]
fn what_is_compiled_is_what_is_added() {
    let folder = package("operetta-add-compiled");
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::copy(own.join("../rustfmt.toml"), folder.join("rustfmt.toml")).unwrap();
    add(operator("Till"), &folder).unwrap();
    let till = fs::read_to_string(folder.join("src/till.rs")).unwrap();
    let changed = till.replace("    pub port: i32,\n}\n", MORE_FIELDS);
    let changed = changed.replacen("\n\n", "\n\nuse std::collections::BTreeMap;\n\n", 1);
    assert_ne!(till, changed);
    fs::write(folder.join("src/till.rs"), changed).unwrap();
    add(webhook("short-names", Some("Till"), false), &folder).unwrap();
    add(webhook("labels", Some("Till"), true), &folder).unwrap();
    add(version("v1beta1", Some("Till")), &folder).unwrap();
    add(version("v1", Some("Till")), &folder).unwrap();
    format(&folder);
    let compiled = own.join("compiled/added");
    for path in [
        "till.rs",
        "till/v1alpha1.rs",
        "till/v1beta1.rs",
        "webhooks/mod.rs",
        "webhooks/short_names.rs",
        "webhooks/labels.rs",
    ] {
        let added = fs::read_to_string(folder.join("src").join(path)).unwrap();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            write(&compiled.join(path), &added).unwrap();
        } else {
            let expected = fs::read_to_string(compiled.join(path)).unwrap();
            assert_eq!(added, expected, "{path}: write it with UPDATE_EXPECT=1");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

const MORE_FIELDS: &str = r#"    pub port: i32,
    /// The currencies that it takes, and how it rounds them.
    #[serde(default)]
    pub currencies: BTreeMap<String, TillCurrency>,
    /// The drawer for the money.
    #[serde(default = "no_drawer")]
    pub drawer: TillDrawer,
    /// Those that share the money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Vec<TillDrawer>>,
}

/// A currency.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
pub struct TillCurrency {
    /// The smallest coin.
    pub coin: u32,
}

/// A drawer.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum TillDrawer {
    /// For money of this number of kinds.
    Money(u32),
    /// For what is written.
    Paper {
        /// How many.
        sheets: u32,
    },
}

fn no_drawer() -> TillDrawer {
    TillDrawer::Money(0)
}
"#;

#[test]
fn elsewhere_it_says_where_to_call_it() {
    let error = add(operator("Till"), Path::new("/nonexistent")).unwrap_err().to_string();
    assert!(error.contains("a package that `cargo operetta new` wrote"), "{error}");
}
