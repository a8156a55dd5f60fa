//! Commands by buttons.

use operetta::testkit::internals::board::ParentPhase;
use serde_json::json;

use crate::visit::visit;

#[operetta_harness::test]
async fn a_parent_is_paused_and_resumed_by_its_button() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        browser.until_shown("#live", "Live").await;
        browser.click(".asks summary").await;
        let reason = browser.find(".asks input[name=reason]").await;
        reason.send_keys("the volume is moved").await.unwrap();
        browser.click_button("Pause it").await;
        browser.until_shown("#answer", "it has the annotation operetta.dev/paused").await;
        browser.until_shown(".title .mark", "paused").await;
        shop.until("websites", "shop", "landing", ParentPhase::Paused).await;
        browser.until_shown(".problems", "is paused").await;
        browser.until_shown(".problems", "the volume is moved").await;
        browser.until_shown(".commands", "Resume").await;
        browser.click_button("Resume").await;
        browser.until_shown("#answer", "no longer").await;
        browser.until_shown(".title .mark", "ready").await;
    })
    .await;
}

#[operetta_harness::test]
async fn a_stalled_parent_is_reconciled_on_command() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/websites/parents/blog/portfolio").await;
        browser.until_shown("#live", "Live").await;
        let before = browser.texts(".reconcile").await.len();
        browser.click_button("Reconcile now").await;
        browser.until_shown("#answer", "it is reconciled as soon as a permit is free").await;
        browser.until_shown(".reconciles", "a reconcile was requested").await;
        assert!(browser.texts(".reconcile").await.len() > before);
    })
    .await;
}

#[operetta_harness::test]
async fn held_deletions_are_allowed_by_their_button() {
    visit(async |browser, shop| {
        shop.put("Website", "shop", "landing", json!({"act": "empty"})).await;
        shop.until("websites", "shop", "landing", ParentPhase::Stalled).await;
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        browser.until_shown("#live", "Live").await;
        browser.click(".problems .asks summary").await;
        // Without the confirmation nothing is sent.
        browser.click_button("Allow the deletions").await;
        assert_eq!(browser.text("#answer").await, "");
        browser.click(".problems .asks input[type=checkbox]").await;
        browser.click_button("Allow the deletions").await;
        shop.until("websites", "shop", "landing", ParentPhase::Ready).await;
        browser.until_shown(".title .mark", "ready").await;
        assert_eq!(shop.children("shop", "landing").await, 0);
    })
    .await;
}

#[operetta_harness::test]
async fn an_operator_is_paused_and_resumed_by_its_button() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/databases").await;
        browser.until_shown("#live", "Live").await;
        browser.click(".asks summary").await;
        // Without the confirmation nothing is sent.
        browser.click_button("Pause all parents").await;
        assert_eq!(browser.text("#answer").await, "");
        browser.click(".asks input[type=checkbox]").await;
        browser.click_button("Pause all parents").await;
        browser.until_shown(".notice", "A user paused this operator").await;
        browser.click_button("Resume the operator").await;
        browser.until(".notice", str::is_empty).await;
    })
    .await;
}

#[operetta_harness::test]
async fn the_error_of_a_command_is_shown() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        // The page is not updated when the parent is deleted.
        let script = "document.querySelector('main').dataset.keep = ''";
        browser.run(script, vec![]).await;
        shop.delete("Website", "shop", "landing").await;
        shop.until_gone("websites", "shop", "landing").await;
        browser.click(".asks summary").await;
        browser.click_button("Pause it").await;
        browser.until_shown("#answer", "has no parent `shop/landing`").await;
    })
    .await;
}

#[operetta_harness::test]
async fn selected_parents_are_paused_and_resumed_and_failures_are_named() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/databases").await;
        browser.until_shown("#live", "Live").await;
        browser.click("thead .select input").await;
        browser.until_shown(".bulk", "3 selected").await;
        browser.click(".bulk .asks summary").await;
        browser.find(".bulk input[name=reason]").await.send_keys("a migration").await.unwrap();
        browser.click_button("Pause them").await;
        browser.until_shown("#answers", "3 done.").await;
        for name in ["orders", "customers", "sessions"] {
            shop.until("databases", "data", name, ParentPhase::Paused).await;
        }
        browser.goto("/ui/operators/databases/parents/data/orders").await;
        browser.until_shown(".problems", "a migration").await;
        browser.goto("/ui/operators/databases").await;
        browser.click("thead .select input").await;
        // The page is not updated when a parent is deleted.
        browser.run("document.querySelector('main').dataset.keep = ''", vec![]).await;
        shop.delete("Database", "data", "orders").await;
        shop.until_gone("databases", "data", "orders").await;
        browser.click(".bulk [data-bulk=resume]").await;
        browser.until_shown("#answers", "2 done, 1 failed:").await;
        browser.until_shown("#answers", "data/orders: the operator").await;
        browser.until_shown(".bulk", "1 selected").await;
        shop.until("databases", "data", "sessions", ParentPhase::Ready).await;
    })
    .await;
}
