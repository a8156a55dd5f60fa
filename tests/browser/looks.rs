//! Wide and narrow, light and dark: nothing is cut off, and everybody can read it.

use serde_json::Value;

use crate::{
    browser::{Browser, Look, NARROW, WIDE},
    views::VIEWS,
    visit::visit,
};

const AXE: &str = include_str!("axe/axe.min.js");

#[operetta_harness::test]
async fn no_view_is_wider_than_the_window() {
    visit(async |browser, _| {
        for look in [NARROW, Look { width: 320, ..NARROW }, Look { width: 768, ..WIDE }, WIDE] {
            browser.look(look).await;
            for view in VIEWS {
                browser.goto(view).await;
                let script = "return document.documentElement.scrollWidth - innerWidth";
                let beyond = browser.run(script, vec![]).await.as_i64().unwrap();
                assert!(beyond <= 0, "{view} is {beyond} pixels too wide at {}", look.width);
            }
        }
    })
    .await;
}

#[operetta_harness::test]
async fn everybody_can_read_and_use_every_view_in_light_and_dark() {
    visit(async |browser, _| {
        for look in [WIDE, WIDE.dark(), NARROW, NARROW.dark()] {
            browser.look(look).await;
            for view in VIEWS {
                browser.goto(view).await;
                let found = violations(browser).await;
                assert_eq!(found, Value::Array(vec![]), "{view} in {look:?}");
            }
        }
    })
    .await;
}

#[operetta_harness::test]
async fn the_page_is_as_dark_as_the_reader_wants_it() {
    visit(async |browser, _| {
        let script = "return getComputedStyle(document.body).backgroundColor";
        let mut papers = Vec::new();
        for look in [WIDE, WIDE.dark()] {
            browser.look(look).await;
            browser.goto("/").await;
            papers.push(brightness(browser.run(script, vec![]).await.as_str().unwrap()));
        }
        assert!(papers[0] > 200 && papers[1] < 50, "{papers:?}");
    })
    .await;
}

/// What axe-core finds: the rule and where.
pub(crate) async fn violations(browser: &Browser) -> Value {
    browser.run(AXE, vec![]).await;
    let script = "const done = arguments[0];
        axe.run(document, {resultTypes: ['violations']}).then(
            found => done(found.violations.map(it =>
                [it.id, it.help, ...it.nodes.map(node => `${node.target} ${node.failureSummary}`)])),
            error => done([String(error)]));";
    browser.run_async(script, vec![]).await
}

/// Of `rgb(r, g, b)`, the mean.
fn brightness(colour: &str) -> u32 {
    let parts = colour.trim_start_matches("rgb(").trim_end_matches(')').split(", ");
    parts.map(|part| part.parse::<u32>().unwrap()).sum::<u32>() / 3
}
