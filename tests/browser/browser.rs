//! A headless browser with one page open, and what a test asks of it.

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
    /// It ends with the test.
    _driver: Driver,
}

/// How the page is looked at.
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

    // === where it is ===

    pub(crate) async fn goto(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.server)).await.unwrap();
    }

    /// Path and query of the page.
    pub(crate) async fn path(&self) -> String {
        let url = self.client.current_url().await.unwrap();
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", url.path())
    }

    // === what it shows ===

    /// The text of all elements of a selector, as a reader sees it.
    pub(crate) async fn texts(&self, selector: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(arguments[0])].map(it => it.innerText)";
        let texts = self.run(script, vec![json!(selector)]).await;
        serde_json::from_value(texts).unwrap()
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        self.texts(selector).await.join("\n")
    }

    /// Waits until the text of a selector is right, and returns it.
    pub(crate) async fn until(&self, selector: &str, is_right: impl Fn(&str) -> bool) -> String {
        let look = || async { self.text(selector).await };
        eventually(&format!("the right text of `{selector}`"), look, |text| is_right(text)).await
    }

    /// Waits until a selector shows a text somewhere.
    pub(crate) async fn until_shown(&self, selector: &str, text: &str) {
        self.until(selector, |shown| shown.contains(text)).await;
    }

    /// Waits until what a script returns is right.
    pub(crate) async fn until_true(&self, what: &str, script: &str) {
        let look = || async { self.run(script, vec![]).await };
        eventually(what, look, |seen| *seen == Value::Bool(true)).await;
    }

    /// What was written to the console as a warning or worse, also by the browser itself, since
    /// this was last asked.
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

    /// What a script passes to its last argument, a function.
    pub(crate) async fn run_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute_async(script, arguments).await.unwrap()
    }

    // === what it does ===

    pub(crate) async fn find(&self, selector: &str) -> Element {
        self.client.find(Locator::Css(selector)).await.unwrap()
    }

    pub(crate) async fn click(&self, selector: &str) {
        self.find(selector).await.click().await.unwrap();
    }

    /// By what it says, as a person does.
    pub(crate) async fn click_button(&self, text: &str) {
        let path = format!("//button[normalize-space()='{text}']");
        self.client.find(Locator::XPath(&path)).await.unwrap().click().await.unwrap();
    }

    pub(crate) async fn keys(&self, keys: &str) {
        let focused = self.client.active_element().await.unwrap();
        focused.send_keys(keys).await.unwrap();
    }

    // === how it looks ===

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

/// A command that only this browser knows.
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
