//! The login page, sessions and their end.

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures::FutureExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};
use operetta::{prelude::*, supervisor::Running, testkit::TestCluster, web::Auth};
use serde_json::Value;

use crate::{
    axe::violations,
    browser::{Browser, NARROW, WIDE},
    driver::Driver,
    visit::BROWSERS,
};

const VIEW: &str = "/ui/operators/notes?q=note";

/// An operator with delegated access.
struct Guarded {
    cluster: TestCluster,
    /// The token is valid while this runs.
    _api_server: operetta_apiserver::Running,
    token: String,
    running: Running,
}

impl Guarded {
    async fn start() -> Self {
        let cluster = TestCluster::start();
        let api_server = cluster.server().serve("127.0.0.1:0".parse().unwrap()).unwrap();
        let kubeconfig: Value = serde_yaml_ng::from_str(api_server.kubeconfig()).unwrap();
        let token = kubeconfig["users"][0]["user"]["token"].as_str().unwrap().to_owned();
        let config = OperatorConfig::of::<ConfigMap>("notes");
        let sync = |_: &SyncRequest| Ok(SyncResponse::new());
        let register = move |builder: operetta::supervisor::SupervisorBuilder| {
            builder.register(config, sync).serve("127.0.0.1:0").auth(Auth::delegated())
        };
        let running = cluster.run(register).await.unwrap();
        let guarded = Self { cluster, _api_server: api_server, token, running };
        guarded.write("note-1").await;
        guarded
    }

    fn url(&self) -> String {
        format!("http://{}", self.running.web().unwrap())
    }

    async fn write(&self, name: &str) {
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let note = ConfigMap { metadata, ..ConfigMap::default() };
        let notes: Api<ConfigMap> = Api::default_namespaced(self.cluster.client());
        notes.create(&PostParams::default(), &note).await.unwrap();
    }
}

/// A test with a browser and a guarded endpoint.
async fn visit(test: impl AsyncFnOnce(&Browser, &Guarded)) {
    let _permit = BROWSERS.acquire().await.unwrap();
    let driver = Driver::start();
    let guarded = Guarded::start().await;
    let browser = Browser::open(driver, guarded.url()).await;
    let result = AssertUnwindSafe(test(&browser, &guarded)).catch_unwind().await;
    let complaints = browser.complaints().await;
    browser.close().await;
    guarded.running.stop().await.unwrap();
    result.unwrap_or_else(|panic| resume_unwind(panic));
    // The refusals without a token are expected.
    let others = complaints.iter().filter(|it| !it.contains("status of 401 (Unauthorized)"));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new(), "in the console");
}

async fn log_in(browser: &Browser, token: &str) {
    browser.click("#token").await;
    browser.keys(token).await;
    browser.click_button("Log in").await;
}

#[operetta_harness::test]
async fn a_user_logs_in_sees_updates_gives_a_command_and_logs_out() {
    visit(async |browser, guarded| {
        browser.goto(VIEW).await;
        browser.until_shown("h1", "Log in").await;
        log_in(browser, "a-token-that-nobody-has").await;
        browser.until_shown("[role=alert]", "The token is invalid").await;
        log_in(browser, &guarded.token).await;
        browser.until_shown("h1", "notes").await;
        assert_eq!(browser.path().await, VIEW);
        browser.until_shown(".visitor", "admin").await;
        browser.until_shown("#live", "Live").await;
        browser.until_shown("main", "note-1").await;
        guarded.write("note-2").await;
        browser.until_shown("main", "note-2").await;
        browser.click(".asks summary").await;
        browser.click(".asks input[type=checkbox]").await;
        browser.click_button("Pause all parents").await;
        browser.until_shown(".notice", "admin paused this operator").await;
        let cookies = browser.run("return document.cookie", vec![]).await;
        assert_eq!(cookies, "", "scripts cannot read it");
        browser.click_button("Log out").await;
        browser.until_shown("h1", "Log in").await;
        assert_eq!(browser.path().await, "/ui/login");
        browser.goto(VIEW).await;
        browser.until_shown("h1", "Log in").await;
        assert!(!browser.text("body").await.contains("note-1"));
    })
    .await;
}

#[operetta_harness::test]
async fn a_user_logs_in_and_out_without_script() {
    visit(async |browser, guarded| {
        browser.without_script().await;
        browser.goto("/").await;
        log_in(browser, &guarded.token).await;
        browser.until_shown("h1", "Overview").await;
        browser.click_button("Log out").await;
        browser.until_shown("h1", "Log in").await;
    })
    .await;
}

#[operetta_harness::test]
async fn the_login_page_is_accessible() {
    visit(async |browser, _| {
        for look in [WIDE, WIDE.dark(), NARROW, NARROW.dark()] {
            browser.look(look).await;
            browser.goto(VIEW).await;
            log_in(browser, "wrong").await;
            browser.until_shown("[role=alert]", "The token is invalid").await;
            assert_eq!(violations(browser).await, Value::Array(vec![]), "{look:?}");
            let script = "return document.documentElement.scrollWidth - innerWidth";
            let beyond = browser.run(script, vec![]).await.as_i64().unwrap();
            assert!(beyond <= 0, "{beyond} pixels too wide in {look:?}");
        }
    })
    .await;
}

#[operetta_harness::test]
async fn the_frame_with_a_user_fits_and_is_accessible() {
    visit(async |browser, guarded| {
        browser.goto("/").await;
        log_in(browser, &guarded.token).await;
        browser.until_shown("h1", "Overview").await;
        for look in [WIDE, WIDE.dark(), NARROW, NARROW.dark()] {
            browser.look(look).await;
            browser.goto("/").await;
            assert_eq!(violations(browser).await, Value::Array(vec![]), "{look:?}");
            let script = "return document.documentElement.scrollWidth - innerWidth";
            let beyond = browser.run(script, vec![]).await.as_i64().unwrap();
            assert!(beyond <= 0, "{beyond} pixels too wide in {look:?}");
        }
    })
    .await;
}
