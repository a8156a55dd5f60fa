//! The contents of each view.

use serde_json::json;

use crate::{browser::Browser, shop::SENTINEL, visit::visit};

/// Every view, and each phase of a parent.
pub(crate) const VIEWS: &[&str] = &[
    "/",
    "/ui/operators/websites",
    "/ui/operators/websites?phase=failing",
    "/ui/operators/websites/parents/shop/checkout",
    "/ui/operators/websites/parents/blog/portfolio",
    "/ui/operators/websites/parents/shop/stock",
    "/ui/operators/websites/parents/shop/newsletter",
    "/ui/operators/websites/namespaces/shop",
    "/ui/operators/websites/parents/shop/landing",
    "/ui/operators/websites/parents/shop/newsletter?diff",
    "/ui/operators/websites/parents/shop/checkout?events",
    "/ui/operators/websites/parents/shop/stock?diff&events",
    "/ui/operators/websites/map/shop/stock",
    "/ui/operators/websites/map/shop/stock?at=configmaps%2Fshop%2Fstock-content",
    "/ui/operators/nobody",
    "/ui/operators/websites?phase=not-ready&sort=since&q=s",
    "/ui/search",
    "/ui/search?q=shop",
    "/ui/search?q=nothing",
    "/ui/activity",
    "/ui/activity?operator=websites&namespace=shop&kind=created&since=1d&q=a",
    "/ui/cache",
    "/ui/cache/configmaps",
    "/ui/cache/secrets/shop/landing-token",
];

#[operetta_harness::test]
async fn the_overview_leads_to_the_reason_of_a_failure() {
    visit(async |browser, _| {
        browser.goto("/").await;
        // The overview shows the problem with its reason.
        let attention = browser.text("section[aria-labelledby=attention]").await;
        assert!(attention.contains("shop/checkout"), "{attention}");
        assert!(attention.contains("registry.example/shop:lates"), "{attention}");
        // One click further, the reason is the first card.
        browser.click("a[href='/ui/operators/websites/parents/shop/checkout']").await;
        browser.until_shown("h1", "shop/checkout").await;
        let first = browser.text(".problems").await;
        assert!(first.contains("has an error of its handler: the image"), "{first}");
        assert!(first.contains("Correct what the error names"), "{first}");
        let next = browser.text("main").await;
        assert!(next.contains("Next reconcile ") && next.contains("to retry"), "{next}");
    })
    .await;
}

#[operetta_harness::test]
async fn parents_that_need_manual_intervention_come_first() {
    visit(async |browser, _| {
        browser.goto("/").await;
        let titles = browser.texts("section[aria-labelledby=attention] h3").await;
        assert_eq!(titles, ["blog/portfolio", "shop/checkout", "shop/newsletter"]);
        browser.until_shown(".lede", "3 things need attention.").await;
        let operators = browser.text("section[aria-labelledby=operators]").await;
        for shown in ["databases", "websites", "running", "Website, 8 parents"] {
            assert!(operators.contains(shown), "no `{shown}` in {operators}");
        }
    })
    .await;
}

#[operetta_harness::test]
async fn the_map_of_a_parent_opens_an_object_beside_it() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/websites/parents/shop/stock").await;
        browser.click("a[href='/ui/operators/websites/map/shop/stock']").await;
        browser.until_shown("main", "map of a Website").await;
        browser.click("svg a[data-key='configmaps/shop/stock-content']").await;
        browser.until_shown(".panel h2", "shop/stock-content").await;
        let panel = browser.text(".panel").await;
        for shown in ["websites", "FailedMount", "title: stock"] {
            assert!(panel.contains(shown), "no `{shown}` in {panel}");
        }
        browser.click(".panel a[href*='diff=true']").await;
        browser.until_shown(".panel", "The handler was called").await;
    })
    .await;
}

#[operetta_harness::test]
async fn a_parent_shows_its_children_reconciles_and_conditions() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/websites/parents/shop/landing").await;
        let children = browser.texts(".tree li").await;
        assert_eq!(children.len(), 3, "{children:?}");
        assert!(children[0].contains("ConfigMap") && children[0].contains("landing-content"));
        let reconciles = browser.text(".reconciles").await;
        for shown in ["wrote", "created", "ConfigMap.v1 shop/landing-content", "ready"] {
            assert!(reconciles.contains(shown), "no `{shown}` in {reconciles}");
        }
        browser.until_shown(".conditions", "all children are up to date").await;
        browser.click(".tree a").await;
        browser.until_shown("pre", "title: landing").await;
    })
    .await;
}

#[operetta_harness::test]
async fn a_preview_shows_changes_and_writes_nothing() {
    visit(async |browser, shop| {
        shop.put("Website", "shop", "newsletter", json!({"title": "spring"})).await;
        browser.goto("/ui/operators/websites/parents/shop/newsletter").await;
        browser.until_shown(".problems", "newsletter-content").await;
        browser.click("a[href$='?diff']").await;
        browser.until_shown(".tree", "would be updated").await;
        assert_eq!(browser.texts(".diff li").await, [".data.title \"newsletter\" \"spring\""]);
        browser.goto("/ui/operators/websites/parents/shop/landing?diff").await;
        browser.until_shown("main", "It would change nothing.").await;
        browser.goto("/ui/cache/configmaps/shop/newsletter-content").await;
        browser.until_shown("pre", "title: newsletter").await;
    })
    .await;
}

#[operetta_harness::test]
async fn events_have_the_columns_of_kubectl_also_without_script() {
    visit(async |browser, _| {
        browser.without_script().await;
        browser.goto("/ui/operators/websites/parents/shop/stock").await;
        browser.click("a[href$='?events']").await;
        let columns = browser.texts("table[aria-label=Events] thead th").await;
        assert_eq!(columns, ["Last seen", "Type", "Reason", "Object", "Message", "Count"]);
        let rows = browser.texts("table[aria-label=Events] tbody tr").await;
        assert_eq!(rows.len(), 1, "{rows:?}");
        for shown in ["warning", "FailedMount", "ConfigMap stock-content", "being deleted", "7"] {
            assert!(rows[0].contains(shown), "no `{shown}` in {rows:?}");
        }
        browser.click("a[href$='/parents/shop/stock']").await;
        assert_eq!(browser.texts("table[aria-label=Events]").await.len(), 0);
    })
    .await;
}

#[operetta_harness::test]
async fn an_operator_shows_its_queue_its_settings_and_its_caches() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/databases").await;
        let settings = browser.text("section[aria-labelledby=settings]").await;
        for shown in ["0 of 32 permits in use, 0 waiting", "1 min to 5 min", "Secret (v1)"] {
            assert!(settings.contains(shown), "no `{shown}` in {settings}");
        }
        let caches = browser.texts("table[aria-label=Caches] tbody tr").await;
        assert_eq!(caches.len(), 4, "{caches:?}");
        assert!(caches.iter().all(|cache| cache.contains("synced")), "{caches:?}");
    })
    .await;
}

#[operetta_harness::test]
async fn parents_are_filtered_during_input() {
    visit(async |browser, _| {
        browser.goto("/ui/operators/websites").await;
        assert_eq!(rows(browser).await.len(), 8);
        browser.find("main input[name=q]").await.send_keys("RECI").await.unwrap();
        browser.until("table[aria-label=Parents] tbody th", |it| it == "blog/recipes").await;
        assert_eq!(browser.path().await, "/ui/operators/websites?q=RECI");
        // The input and its focus are kept.
        browser.keys("pe").await;
        browser
            .until_true("the query in the address", "return location.search == '?q=RECIpe'")
            .await;
        browser.keys("x").await;
        browser.until_shown("#parents ~ p", "No parent matches.").await;
    })
    .await;
}

#[operetta_harness::test]
async fn parents_are_sorted_and_chosen_by_links_also_without_script() {
    visit(async |browser, _| {
        browser.without_script().await;
        browser.goto("/ui/operators/websites").await;
        assert_eq!(
            rows(browser).await[..4],
            ["blog/portfolio", "shop/checkout", "shop/stock", "shop/newsletter"]
        );
        browser.click("th[role=columnheader] a[href*='sort=name']").await;
        assert_eq!(rows(browser).await[..2], ["blog/journal", "blog/portfolio"]);
        browser.click("th[aria-sort=ascending] a").await;
        assert_eq!(rows(browser).await[0], "shop/stock");
        browser.click(".tabs a[href*='phase=not-ready']").await;
        assert_eq!(rows(browser).await.len(), 4);
        assert_eq!(browser.path().await, "/ui/operators/websites?phase=not-ready&sort=-name");
        assert!(!browser.texts(".tabs a").await.iter().any(|chip| chip.contains("held")));
    })
    .await;
}

#[operetta_harness::test]
async fn no_view_shows_a_secret() {
    visit(async |browser, _| {
        for view in VIEWS {
            browser.goto(view).await;
            let html = browser.run("return document.documentElement.outerHTML", vec![]).await;
            assert!(!html.as_str().unwrap().contains(SENTINEL), "{view}");
        }
        browser.goto("/ui/cache/secrets/shop/landing-token").await;
        browser.until_shown("pre", "token: (redacted)").await;
    })
    .await;
}

#[operetta_harness::test]
async fn every_view_is_readable_without_script() {
    visit(async |browser, _| {
        browser.without_script().await;
        browser.goto("/ui/operators/websites?phase=failing").await;
        assert_eq!(rows(browser).await, ["shop/checkout"]);
        let scripted = browser.run("return document.documentElement.className", vec![]).await;
        assert_eq!(scripted, "", "the script ran");
        browser.find("main input[name=q]").await.send_keys("nothing").await.unwrap();
        browser.click("form.filter button").await;
        browser.until_shown("main", "No parent matches.").await;
        browser.goto("/ui/operators/websites/parents/shop/checkout").await;
        browser.until_shown("main", "has an error of its handler").await;
    })
    .await;
}

/// The listed parents.
pub(crate) async fn rows(browser: &Browser) -> Vec<String> {
    browser.texts("table[aria-label=Parents] tbody th").await
}
