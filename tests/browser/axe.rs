//! axe-core, which finds what is not accessible. It comes from npm, and nothing of it is in this repository.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use operetta_harness::ignore_outside_ci;
use ring::digest::{SHA256, digest};
use serde_json::Value;

use crate::browser::Browser;

const PACKAGE: &str = "axe-core@4.14.1";

/// The SHA-256 of its script, which runs in a browser that shows the page.
const SUM: &str = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c";

/// The violations that axe-core finds, with their elements. Where it is not installed, the test is ignored.
pub(crate) async fn violations(browser: &Browser) -> Value {
    browser.run(script(), vec![]).await;
    let run = "const done = arguments[0];
        axe.run(document, {resultTypes: ['violations']}).then(
            found => done(found.violations.map(it =>
                [it.id, it.help, ...it.nodes.map(node => `${node.target} ${node.failureSummary}`)])),
            error => done([String(error)]));";
    browser.run_async(run, vec![]).await
}

fn script() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        let text = fs::read_to_string(installed()).unwrap();
        assert_eq!(
            sum(&text),
            SUM,
            "{PACKAGE} is not what it was: look at what is new, then change the sum"
        );
        text
    })
}

/// The file of the script, which `.ci/run` installs. No test installs anything.
fn installed() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PACKAGE);
    let file = folder.join("node_modules/axe-core/axe.min.js");
    if !file.exists() {
        let npm = format!("npm install --no-save --prefix {} {PACKAGE}", folder.display());
        ignore_outside_ci(format!("axe-core is not installed: `{npm}`"));
    }
    file
}

fn sum(text: &str) -> String {
    let mut sum = String::new();
    for byte in digest(&SHA256, text.as_bytes()).as_ref() {
        write!(sum, "{byte:02x}").unwrap();
    }
    sum
}
