//! A headless browser with one page, and its operations for tests.

use std::fmt::Debug;

use fantoccini::{
    Client, ClientBuilder, Locator, elements::Element, wd::WebDriverCompatibleCommand,
};
use hyper_util::client::legacy::connect::HttpConnector;
use operetta::testkit::eventually;
use serde_json::{Value, json};
use url::Url;

use crate::driver::Driver;

/// A browser that shows pages of one server.
pub(crate) struct Browser {
    client: Client,
    server: String,
    /// Ends with the test.
    _driver: Driver,
}

/// The viewport and colour scheme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) scheme: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

pub(crate) const WIDE: Look = Look { scheme: "light", width: 1440, height: 900 };
pub(crate) const NARROW: Look = Look { scheme: "light", width: 375, height: 812 };

impl Look {
    pub(crate) const fn dark(self) -> Self {
        Self { scheme: "dark", ..self }
    }
}

impl Browser {
    pub(crate) async fn open(driver: Driver, server: String) -> Self {
        let capabilities = json!({
            "goog:chromeOptions": {"args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--no-first-run", "--hide-scrollbars",
            ]},
            "goog:loggingPrefs": {"browser": "ALL"},
        });
        let Value::Object(capabilities) = capabilities else { unreachable!("it is one") };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client = builder.capabilities(capabilities).connect(&driver.url).await.unwrap();
        let browser = Self { client, server, _driver: driver };
        browser.look(WIDE).await;
        browser
    }

    pub(crate) async fn close(self) {
        let _ = self.client.close().await;
    }

    // === location ===

    pub(crate) async fn goto(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.server)).await.unwrap();
    }

    /// Path and query of the page.
    pub(crate) async fn path(&self) -> String {
        let url = self.client.current_url().await.unwrap();
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", url.path())
    }

    // === contents ===

    /// The visible text of all elements of a selector.
    pub(crate) async fn texts(&self, selector: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(arguments[0])].map(it => it.innerText)";
        let texts = self.run(script, vec![json!(selector)]).await;
        serde_json::from_value(texts).unwrap()
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        self.texts(selector).await.join("\n")
    }

    /// Waits until the text of a selector matches, and returns it.
    pub(crate) async fn until(&self, selector: &str, matches: impl Fn(&str) -> bool) -> String {
        let look = || async { self.text(selector).await };
        eventually(&format!("the expected text of `{selector}`"), look, |text| matches(text)).await
    }

    /// Waits until the elements of a selector contain a text.
    pub(crate) async fn until_shown(&self, selector: &str, text: &str) {
        self.until(selector, |shown| shown.contains(text)).await;
    }

    /// Waits until a script returns true.
    pub(crate) async fn until_true(&self, what: &str, script: &str) {
        let look = || async { self.run(script, vec![]).await };
        eventually(what, look, |seen| *seen == Value::Bool(true)).await;
    }

    /// The warnings and errors in the console since the last call.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let log = self.command("se/log", json!({"type": "browser"})).await;
        let entries = log.as_array().cloned().unwrap_or_default();
        let bad =
            entries.iter().filter(|entry| entry["level"] != "INFO" && entry["level"] != "DEBUG");
        bad.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub(crate) async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap()
    }

    /// The value that a script passes to its callback.
    pub(crate) async fn run_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute_async(script, arguments).await.unwrap()
    }

    // === actions ===

    pub(crate) async fn find(&self, selector: &str) -> Element {
        self.client.find(Locator::Css(selector)).await.unwrap()
    }

    pub(crate) async fn click(&self, selector: &str) {
        self.find(selector).await.click().await.unwrap();
    }

    /// Clicks a button by its text.
    pub(crate) async fn click_button(&self, text: &str) {
        let path = format!("//button[normalize-space()='{text}']");
        self.client.find(Locator::XPath(&path)).await.unwrap().click().await.unwrap();
    }

    pub(crate) async fn keys(&self, keys: &str) {
        let focused = self.client.active_element().await.unwrap();
        focused.send_keys(keys).await.unwrap();
    }

    // === appearance ===

    pub(crate) async fn look(&self, look: Look) {
        let Look { scheme, width, height } = look;
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features})).await;
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    pub(crate) async fn without_script(&self) {
        self.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    }

    pub(crate) async fn picture(&self) -> Vec<u8> {
        self.client.screenshot().await.unwrap()
    }

    async fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.command("goog/cdp/execute", json!({"cmd": method, "params": parameters})).await
    }

    async fn command(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Extension { path, body }).await.unwrap()
    }
}

/// A command that is specific to Chromium.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
