//! `docs/kubernetes-versions.md`: the guarantees on each version of Kubernetes.
//!
//! `.ci/long versions` runs the tests of behaviour on each version, and then
//! `OPERETTA_VERSION_RUNS=FOLDER cargo test --test framework kubernetes_versions -- --ignored` with a file `1.33.txt` of
//! what they printed for each. `UPDATE_EXPECT=1` rewrites the table.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use operetta_controlplane::Version;

/// How the reason of a test begins that a version of Kubernetes cannot run.
const NOT_OFFERED: &str = "this version of Kubernetes does not ";

struct Guarantee {
    title: String,
    /// The modules of its tests.
    modules: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    NotOffered,
    /// Ignored for a reason that is no matter of the version.
    Ignored,
}

/// The tests of a version by name.
type Run = BTreeMap<String, Outcome>;

#[test]
fn the_page_of_versions_has_every_guarantee_and_every_version() {
    let page = fs::read_to_string(page()).unwrap();
    let first_cells = |row: &str| row.split(" | ").next().unwrap_or_default().to_owned();
    let table: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    let expected = rendered(&BTreeMap::new());
    assert_eq!(table.first().copied(), expected.lines().next(), "the versions");
    let expected: Vec<String> = expected.lines().map(first_cells).collect();
    assert_eq!(table.into_iter().map(first_cells).collect::<Vec<_>>(), expected);
}

#[test]
#[ignore = "needs the runs of `.ci/long versions`"]
fn the_page_of_versions_is_what_the_runs_found() {
    let folder = PathBuf::from(env::var_os("OPERETTA_VERSION_RUNS").expect("the runs"));
    let named = Version::ALL.map(|version| {
        let file = folder.join(format!("{}.txt", version.minor()));
        fs::read_to_string(file).ok().map(|text| (version.minor(), run_of(&text)))
    });
    let runs: BTreeMap<_, _> = named.into_iter().flatten().collect();
    assert!(!runs.is_empty(), "no runs in {}", folder.display());
    for (version, run) in &runs {
        let count = |wanted| run.values().filter(|outcome| **outcome == wanted).count();
        assert!(run.len() > 300 && count(Outcome::Failed) == 0, "{version}");
        let not_offered = count(Outcome::NotOffered);
        println!("figure: {version} offers what {not_offered} of {} tests need not", run.len());
        assert!(not_offered * 100 <= run.len() * 3, "{version}: {not_offered} of {}", run.len());
    }
    let before = fs::read_to_string(page()).unwrap();
    let is_row = |line: &&str| line.starts_with('|');
    let text = before.lines().take_while(|line| !is_row(line)).collect::<Vec<_>>().join("\n");
    let rest = before.lines().skip_while(|line| !is_row(line)).skip_while(is_row);
    let after = format!("{text}\n{}{}\n", rendered(&runs), rest.collect::<Vec<_>>().join("\n"));
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(page(), after).unwrap();
    } else {
        assert_eq!(after, before, "UPDATE_EXPECT=1 rewrites it");
    }
}

fn rendered(runs: &BTreeMap<&str, Run>) -> String {
    let versions = Version::ALL.map(Version::minor);
    let row = |title: &str, cells: Vec<String>| format!("| {title} | {} |\n", cells.join(" | "));
    let head = row("guarantee", versions.map(str::to_owned).to_vec());
    let line = format!("|---{}|\n", "|---:".repeat(versions.len()));
    let rows = guarantees().into_iter().map(|guarantee| {
        let cells = versions.map(|version| cell(&guarantee, runs.get(version)));
        row(&guarantee.title, cells.to_vec())
    });
    [head, line].into_iter().chain(rows).collect()
}

/// How many tests hold the guarantee there, and how many need what the version does not offer.
fn cell(guarantee: &Guarantee, run: Option<&Run>) -> String {
    let Some(run) = run else { return "not run".to_owned() };
    if guarantee.modules.is_empty() {
        return "any".to_owned();
    }
    let is_of = |name: &str, module: &String| {
        name.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"))
    };
    let ours = run.iter().filter(|(name, _)| guarantee.modules.iter().any(|it| is_of(name, it)));
    let ours: Vec<Outcome> = ours.map(|(_, outcome)| *outcome).collect();
    let count = |wanted| ours.iter().filter(|outcome| **outcome == wanted).count();
    match count(Outcome::NotOffered) {
        0 => count(Outcome::Passed).to_string(),
        missing => format!("{}, not {missing}", count(Outcome::Passed)),
    }
}

/// What the harness prints.
fn run_of(text: &str) -> Run {
    let lines = text.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
    let outcome = |ended: &str| match ended {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        ignored if ignored.contains(NOT_OFFERED) => Outcome::NotOffered,
        _ => Outcome::Ignored,
    };
    lines.map(|(name, ended)| (name.trim().to_owned(), outcome(ended.trim()))).collect()
}

/// Those of ARCHITECTURE.md, with links from `docs`.
fn guarantees() -> Vec<Guarantee> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once("\n## Guarantees\n").unwrap();
    let rows = section.lines().take_while(|line| !line.starts_with("## "));
    let numbered = rows.filter(|row| row.starts_with("| ") && !row.starts_with("| |"));
    numbered.map(guarantee).collect()
}

fn guarantee(row: &str) -> Guarantee {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let end = if cells[2].starts_with('[') {
        cells[2].find(')').map(|end| end + 1)
    } else {
        cells[2].find(':')
    };
    let title = cells[2][..end.unwrap()].replace("](docs/", "](");
    let named = cells[3].split("`b/").skip(1).filter_map(|rest| rest.split('`').next());
    let modules = named.flat_map(super::documents::each).map(|name| name.replace('/', "::"));
    Guarantee { title, modules: modules.collect() }
}

fn page() -> PathBuf {
    root().join("docs/kubernetes-versions.md")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_run_is_counted_by_the_tests_of_the_guarantee() {
    let run = run_of(
        "running 4 tests\n\
         test status::a_test       ... ok\n\
         test status::of::another  ... ok\n\
         test statuses::no         ... ok\n\
         test status::policies     ... ignored (this version of Kubernetes does not serve them)\n",
    );
    let guarantee = Guarantee { title: String::new(), modules: vec!["status".to_owned()] };
    assert_eq!(cell(&guarantee, Some(&run)), "2, not 1");
    assert_eq!(cell(&guarantee, None), "not run");
}
