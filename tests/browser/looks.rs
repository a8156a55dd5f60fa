//! Layout and accessibility, wide and narrow, light and dark.

use serde_json::Value;

use crate::{
    axe::violations,
    browser::{Look, NARROW, WIDE},
    views::VIEWS,
    visit::visit,
};

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
async fn every_view_is_accessible_in_light_and_dark() {
    visit(async |browser, _| {
        for look in [WIDE, NARROW.dark()] {
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
async fn the_page_follows_the_preferred_colour_scheme() {
    visit(async |browser, _| {
        let script = "return getComputedStyle(document.body).backgroundColor";
        let mut backgrounds = Vec::new();
        for look in [WIDE, WIDE.dark()] {
            browser.look(look).await;
            browser.goto("/").await;
            backgrounds.push(brightness(browser.run(script, vec![]).await.as_str().unwrap()));
        }
        assert!(backgrounds[0] > 200 && backgrounds[1] < 50, "{backgrounds:?}");
    })
    .await;
}

/// The mean of `rgb(r, g, b)`.
fn brightness(colour: &str) -> u32 {
    let parts = colour.trim_start_matches("rgb(").trim_end_matches(')').split(", ");
    parts.map(|part| part.parse::<u32>().unwrap()).sum::<u32>() / 3
}
