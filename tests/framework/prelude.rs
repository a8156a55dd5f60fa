//! The prelude is small, and the programs of the walkthrough need little else. What users configure has no public field,
//! and a response those that a test reads.

use std::{collections::BTreeSet, fs, path::Path};

/// What the programs of the walkthrough import beside the prelude: names that one or two chapters need.
const BESIDE: [&str; 7] = [
    "Admission",
    "AdmissionRequest",
    "Condition",
    "Operation",
    "Versions",
    "Webhook",
    "with_related",
];
/// What they import for tests.
const OF_OTHER_PARTS: [&str; 4] = ["ObjectKey", "Stores", "TestCluster", "assert_round_trips"];

const MOST: usize = 16;

#[test]
fn the_prelude_has_at_most_sixteen_names() {
    let names = names(&source("src/prelude.rs"), "pub use ");
    assert!(names.len() <= MOST, "{} names: {names:?}", names.len());
    for name in ["Conditions", "Related", "Permanent", "RetryAfter"] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn the_programs_of_the_walkthrough_import_little_beside_the_prelude() {
    let steps = fs::read_dir(path("examples/website/steps")).unwrap();
    let steps: Vec<String> =
        steps.map(|step| fs::read_to_string(step.unwrap().path()).unwrap()).collect();
    let imported: BTreeSet<String> =
        steps.iter().flat_map(|step| names(step, "use operetta::")).collect();
    let known: BTreeSet<String> =
        BESIDE.iter().chain(&OF_OTHER_PARTS).map(|&name| name.to_owned()).collect();
    assert_eq!(imported, known);
}

#[test]
fn a_configuration_has_no_public_field_and_a_response_four() {
    for (file, name, expected) in [
        ("src/operator/config.rs", "OperatorConfig<R = Owns>", vec![]),
        ("src/operator/decoration.rs", "Decoration", vec![]),
        (
            "src/operator/response.rs",
            "SyncResponse<S = Value>",
            vec!["status", "children", "resync", "events"],
        ),
        (
            "src/operator/decorator_response.rs",
            "DecoratorResponse<S = Value>",
            vec!["response", "decoration"],
        ),
    ] {
        let text = source(file);
        let (_, body) = text.split_once(&format!("pub struct {name} {{")).unwrap();
        let (fields, _) = body.split_once("\n}").unwrap();
        let public = fields.lines().filter_map(|line| line.trim().strip_prefix("pub "));
        let public: Vec<&str> = public.filter_map(|field| Some(field.split_once(':')?.0)).collect();
        assert_eq!(public, expected, "{name}");
    }
}

/// The last parts of what the statements with this beginning import, without globs and modules of groups.
fn names(text: &str, begin: &str) -> BTreeSet<String> {
    let statements = text.split(begin).skip(1).filter_map(|rest| Some(rest.split_once(';')?.0));
    let parts = statements.flat_map(|statement| statement.split([',', '{', '}']));
    let last = parts.filter_map(|part| {
        let part = part.trim();
        let name = part.rsplit("::").next().unwrap_or(part);
        (!matches!(name, "" | "*" | "self")).then(|| name.to_owned())
    });
    last.collect()
}

fn source(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap()
}

fn path(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}
