//! What a person orders by a click.

use operetta::board::ParentPhase;

use crate::visit::visit;

#[operetta_harness::test]
async fn a_parent_is_paused_and_resumed_by_its_button() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        browser.until_shown("#live", "Live").await;
        browser.click_button("Pause").await;
        browser.until_shown("#answer", "it has the annotation operetta.dev/paused").await;
        browser.until_shown(".title .mark", "paused").await;
        shop.until("websites", "shop", "landing", ParentPhase::Paused).await;
        browser.until_shown(".lede", "A person has paused it").await;
        browser.until_shown(".commands", "Resume").await;
        browser.click_button("Resume").await;
        browser.until_shown("#answer", "no longer").await;
        browser.until_shown(".title .mark", "synced").await;
    })
    .await;
}

#[operetta_harness::test]
async fn a_parent_that_rests_runs_when_it_is_told_to() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/websites/parents/blog/portfolio").await;
        browser.until_shown("#live", "Live").await;
        let runs = browser.texts(".reconcile").await.len();
        browser.click_button("Run now").await;
        browser.until_shown("#answer", "it runs as soon as a place is free").await;
        browser.until_shown(".reconciles", "a reconcile was requested").await;
        assert!(browser.texts(".reconcile").await.len() > runs);
    })
    .await;
}

#[operetta_harness::test]
async fn an_operator_is_paused_and_resumed_by_its_button() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/databases").await;
        browser.until_shown("#live", "Live").await;
        browser.click_button("Pause the operator").await;
        browser.until_shown(".notice", "A person has paused this operator").await;
        browser.click_button("Resume the operator").await;
        browser.until(".notice", str::is_empty).await;
    })
    .await;
}

#[operetta_harness::test]
async fn an_order_that_cannot_be_carried_out_says_why() {
    visit(async |browser, shop| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        // The page does not notice that the parent goes.
        let script = "document.querySelector('main').dataset.keep = ''";
        browser.run(script, vec![]).await;
        shop.delete("Website", "shop", "landing").await;
        shop.until_gone("websites", "shop", "landing").await;
        browser.click_button("Pause").await;
        browser.until_shown("#answer", "knows no parent `shop/landing`").await;
    })
    .await;
}
