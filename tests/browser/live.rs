//! Live updates of the page without a reload.

use operetta::testkit::internals::board::ParentPhase;
use serde_json::json;

use crate::{browser::Browser, views::rows, visit::visit};

/// Sets a mark that a reload would remove.
async fn mark(browser: &Browser) {
    browser.until_shown("#live", "Live").await;
    browser.run("window.stays = true", vec![]).await;
}

async fn assert_not_reloaded(browser: &Browser) {
    assert_eq!(browser.run("return window.stays === true", vec![]).await, true, "reloaded");
}

#[operetta_harness::test]
async fn a_failure_and_its_fix_are_shown_at_once() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        mark(browser).await;
        browser.until_shown(".title .mark", "ready").await;
        shop.put("Website", "shop", "landing", json!({"act": "fail"})).await;
        browser.until_shown(".title .mark", "failing").await;
        browser.until_shown(".lede", "does not exist").await;
        // For screen readers.
        browser.until_shown("#announcer", "has an error of its handler").await;
        shop.put("Website", "shop", "landing", json!({"title": "better"})).await;
        browser.until_shown(".title .mark", "ready").await;
        browser.until_shown(".reconciles", "data.title").await;
        assert_not_reloaded(browser).await;
    })
    .await;
}

#[operetta_harness::test]
async fn events_stay_open_and_are_read_again_after_changes() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing?events").await;
        mark(browser).await;
        browser.until_shown("section[aria-labelledby=events]", "There are none").await;
        shop.emit("Service", "landing", "FailedToUpdateEndpointSlices", "no such port").await;
        shop.put("Website", "shop", "landing", json!({"title": "better"})).await;
        browser.until_shown("table[aria-label=Events]", "FailedToUpdateEndpointSlices").await;
        browser.until_shown(".reconciles", "data.title").await;
        assert_not_reloaded(browser).await;
    })
    .await;
}

#[operetta_harness::test]
async fn focus_and_input_are_kept_while_parents_come_and_go() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/databases").await;
        mark(browser).await;
        browser.find("main input[name=q]").await.send_keys("s").await.unwrap();
        browser.until_true("the filter", "return location.search == '?q=s'").await;
        shop.put("Database", "data", "a-sales", json!({"title": "sales"})).await;
        browser.until("table[aria-label=Parents]", |text| text.contains("data/a-sales")).await;
        assert_eq!(rows(browser).await[0], "data/a-sales");
        shop.delete("Database", "data", "sessions").await;
        browser.until("table[aria-label=Parents]", |text| !text.contains("sessions")).await;
        let focused = browser.run("return document.activeElement.value", vec![]).await;
        assert_eq!(focused, "s", "the input field has no focus");
        assert_not_reloaded(browser).await;
    })
    .await;
}

#[operetta_harness::test]
async fn the_overview_and_the_page_of_a_deleted_parent_are_updated() {
    visit(async |browser, shop| {
        browser.goto("/").await;
        mark(browser).await;
        shop.put("Website", "shop", "checkout", json!({"title": "works"})).await;
        shop.until("websites", "shop", "checkout", ParentPhase::Ready).await;
        browser.until_shown(".lede", "2 things need attention.").await;
        assert_not_reloaded(browser).await;
        browser.goto("/ui/operators/websites/parents/shop/checkout").await;
        mark(browser).await;
        shop.delete("Website", "shop", "checkout").await;
        browser.until_shown("h1", "Nothing here").await;
        assert_not_reloaded(browser).await;
    })
    .await;
}

#[operetta_harness::test]
async fn the_page_shows_a_lost_connection_and_continues_after_a_restart() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/databases").await;
        mark(browser).await;
        shop.stop().await;
        browser.until_shown("#live", "Not connected").await;
        shop.put("Database", "data", "born-meanwhile", json!({"title": "x"})).await;
        shop.start_again().await;
        browser.until_shown("#live", "Live").await;
        browser.until_shown("table[aria-label=Parents]", "data/born-meanwhile").await;
        assert_not_reloaded(browser).await;
        // The browser logs each failed request: for events, for the page after an event, for the icon.
        // There are no other errors.
        let is_of_server = |complaint: &String| {
            complaint.starts_with(&shop.url()) && complaint.contains("net::ERR_")
        };
        let complaints = browser.complaints().await;
        assert!(complaints.iter().all(is_of_server), "{complaints:#?}");
    })
    .await;
}

/// Adds two elements with the same key to each fetched page, and counts the fetches.
const TWINS: &str = r#"
    const ask = window.fetch;
    let turn = 0;
    window.fetch = async (...asked) => {
        const text = await (await ask(...asked)).text();
        const twin = '<li data-key="a">a twin</li>';
        const twins = `<ul class="twins" data-turn="${++turn}">${twin}${twin}</ul>`;
        return new Response(text.replace('<ol class="reconciles"', twins + '$&'));
    };
"#;

/// The server sends unique keys, but the script must not lose elements otherwise.
#[operetta_harness::test]
async fn two_elements_with_the_same_key_are_both_kept_by_updates() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        mark(browser).await;
        browser.run(TWINS, vec![]).await;
        for (turn, title) in [(1, "better"), (2, "best")] {
            shop.put("Website", "shop", "landing", json!({"title": title})).await;
            let is_updated =
                format!("return document.querySelector('.twins')?.dataset.turn >= {turn}");
            browser.until_true("the update of the page", &is_updated).await;
        }
        assert_eq!(browser.texts(".twins li").await, ["a twin", "a twin"]);
        assert_not_reloaded(browser).await;
    })
    .await;
}
