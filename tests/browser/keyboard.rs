//! Use by keyboard.

use crate::{browser::Browser, visit::visit};

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// The text of the focused element, and whether its focus is visible.
async fn focused(browser: &Browser) -> (String, bool) {
    let script = "const it = document.activeElement, at = it.getBoundingClientRect();
        const style = getComputedStyle(it);
        const seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2
            && at.width > 0 && at.bottom > 0 && at.top < innerHeight;
        return [(it.innerText || it.name || '').trim(), seen];";
    serde_json::from_value(browser.run(script, vec![]).await).unwrap()
}

/// Presses Tab until this has the focus, and checks that every focus is visible.
async fn walk_to(browser: &Browser, text: &str) {
    for _ in 0..60 {
        browser.keys(TAB).await;
        let (shown, is_visible) = focused(browser).await;
        assert!(is_visible, "the focus on `{shown}` is not visible");
        if shown == text {
            return;
        }
    }
    panic!("`{text}` cannot be reached");
}

#[operetta_harness::test]
async fn from_the_overview_to_the_cause_without_a_mouse() {
    visit(async |browser, _| {
        browser.goto("/").await;
        browser.keys(TAB).await;
        assert_eq!(focused(browser).await, ("Skip to content".to_owned(), true));
        browser.keys(ENTER).await;
        browser.until_true("the content", "return document.activeElement.id == 'main'").await;
        walk_to(browser, "shop/checkout").await;
        browser.keys(ENTER).await;
        browser.until_shown(".problems", "has an error of its handler").await;
    })
    .await;
}

#[operetta_harness::test]
async fn every_focus_on_a_list_and_a_parent_is_visible() {
    visit(async |browser, _| {
        for (view, last) in [
            ("/ui/operators/websites", "API"),
            ("/ui/operators/websites/parents/shop/checkout", "API"),
            ("/ui/cache/secrets/shop/landing-token", "API"),
        ] {
            browser.goto(view).await;
            walk_to(browser, last).await;
        }
    })
    .await;
}

#[operetta_harness::test]
async fn keys_move_through_a_list_open_a_row_and_search() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/websites").await;
        browser.keys("j").await;
        assert_eq!(focused(browser).await, ("blog/portfolio".to_owned(), true));
        browser.keys("jj").await;
        browser.keys("k").await;
        assert_eq!(focused(browser).await, ("shop/checkout".to_owned(), true));
        browser.keys(ENTER).await;
        browser.until_shown("h1", "shop/checkout").await;
        browser.keys("/").await;
        // In a field they are letters.
        browser.keys("jour").await;
        browser.keys(ENTER).await;
        browser.until_shown("h1", "Search").await;
        assert_eq!(browser.texts("table[aria-label=Parents] tbody th").await, ["blog/journal"]);
    })
    .await;
}

#[operetta_harness::test]
async fn the_keys_are_shown_and_can_be_switched_off() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/websites").await;
        browser.keys("?").await;
        browser.until_shown("#keys", "the next row of a list").await;
        browser.click("#keys-used").await;
        browser.click_button("Close").await;
        browser.keys("j").await;
        assert_ne!(focused(browser).await.0, "blog/portfolio");
        browser.goto("/").await;
        browser.click_button("Keys").await;
        browser
            .until_true("the choice", "return !document.getElementById('keys-used').checked")
            .await;
    })
    .await;
}
