//! The page follows what happens, without being loaded anew.

use operetta::{testkit::{internals::{board::ParentPhase}}};
use serde_json::json;

use crate::{browser::Browser, views::rows, visit::visit};

/// Leaves a mark that a page which is loaded anew does not have.
async fn mark(browser: &Browser) {
    browser.until_shown("#live", "Live").await;
    browser.run("window.stays = true", vec![]).await;
}

async fn assert_not_reloaded(browser: &Browser) {
    assert_eq!(browser.run("return window.stays === true", vec![]).await, true, "reloaded");
}

#[operetta_harness::test]
async fn a_parent_that_breaks_and_is_mended_is_seen_at_once() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        mark(browser).await;
        browser.until_shown(".title .mark", "synced").await;
        shop.put("Website", "shop", "landing", json!({"act": "fail"})).await;
        browser.until_shown(".title .mark", "failing").await;
        browser.until_shown(".lede", "does not exist").await;
        // Who does not see it is told.
        browser.until_shown("#announcer", "failed: the handler returned an error").await;
        shop.put("Website", "shop", "landing", json!({"title": "better"})).await;
        browser.until_shown(".title .mark", "synced").await;
        browser.until_shown(".reconciles", "data.title").await;
        assert_not_reloaded(browser).await;
    })
    .await;
}

#[operetta_harness::test]
async fn what_kubernetes_tells_stays_open_and_is_read_anew_when_something_changes() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing?events").await;
        mark(browser).await;
        browser.until_shown("section[aria-labelledby=events]", "There are none").await;
        shop.tell("Service", "landing", "FailedToUpdateEndpointSlices", "no such port").await;
        shop.put("Website", "shop", "landing", json!({"title": "better"})).await;
        browser.until_shown("table[aria-label=Events]", "FailedToUpdateEndpointSlices").await;
        browser.until_shown(".reconciles", "data.title").await;
        assert_not_reloaded(browser).await;
    })
    .await;
}

#[operetta_harness::test]
async fn parents_come_and_go_while_focus_and_typed_text_stay() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/databases").await;
        mark(browser).await;
        browser.find("input[name=q]").await.send_keys("s").await.unwrap();
        browser.until_true("the filter", "return location.search == '?q=s'").await;
        shop.put("Database", "data", "a-sales", json!({"title": "sales"})).await;
        browser.until("table[aria-label=Parents]", |text| text.contains("data/a-sales")).await;
        assert_eq!(rows(browser).await[0], "data/a-sales");
        shop.delete("Database", "data", "sessions").await;
        browser.until("table[aria-label=Parents]", |text| !text.contains("sessions")).await;
        let focused = browser.run("return document.activeElement.value", vec![]).await;
        assert_eq!(focused, "s", "the field that was typed into has no focus");
        assert_not_reloaded(browser).await;
    })
    .await;
}

#[operetta_harness::test]
async fn the_overview_follows_and_a_parent_that_is_gone_says_so() {
    visit(async |browser, shop| {
        browser.goto("/").await;
        mark(browser).await;
        shop.put("Website", "shop", "checkout", json!({"title": "works"})).await;
        shop.until("websites", "shop", "checkout", ParentPhase::Synced).await;
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
async fn the_page_says_that_nobody_is_there_and_goes_on_when_somebody_is_again() {
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
        // The browser says of each request that nobody answered it: for events, for the page when
        // an event has just come, for its icon. Nothing else went wrong.
        let is_of_server = |complaint: &String| {
            complaint.starts_with(&shop.url()) && complaint.contains("net::ERR_")
        };
        let complaints = browser.complaints().await;
        assert!(complaints.iter().all(is_of_server), "{complaints:#?}");
    })
    .await;
}

/// Puts two that have one key into each page that is asked for, and says which page it is.
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

/// The server sends no such thing; but what is shown must not depend on it.
#[operetta_harness::test]
async fn two_that_call_themselves_the_same_are_both_shown_however_often_the_page_follows() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        mark(browser).await;
        browser.run(TWINS, vec![]).await;
        for (turn, title) in [(1, "better"), (2, "best")] {
            shop.put("Website", "shop", "landing", json!({"title": title})).await;
            let follows =
                format!("return document.querySelector('.twins')?.dataset.turn >= {turn}");
            browser.until_true("that the page follows", &follows).await;
        }
        assert_eq!(browser.texts(".twins li").await, ["a twin", "a twin"]);
        assert_not_reloaded(browser).await;
    })
    .await;
}
