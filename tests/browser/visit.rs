//! Runs a test with a shop and a browser, and stops both at its end.

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures::FutureExt;
use tokio::sync::Semaphore;

use crate::{browser::Browser, driver::Driver, shop::Shop};

/// Browsers need much memory, and each keeps a core busy.
pub(crate) static BROWSERS: Semaphore = Semaphore::const_new(3);

/// A browser and a shop with parents in every lasting phase.
pub(crate) async fn visit(test: impl AsyncFnOnce(&Browser, &Shop)) {
    let _permit = BROWSERS.acquire().await.unwrap();
    let driver = Driver::start();
    let shop = Shop::stocked().await;
    let browser = Browser::open(driver, shop.url()).await;
    let result = AssertUnwindSafe(test(&browser, &shop)).catch_unwind().await;
    let complaints = match result {
        Ok(()) => Ok(browser.complaints().await),
        Err(panic) => Err(panic),
    };
    browser.close().await;
    shop.stop().await;
    let mut complaints = complaints.unwrap_or_else(|panic| resume_unwind(panic));
    complaints.retain(|complaint| !is_expected(complaint));
    assert!(complaints.is_empty(), "in the console: {complaints:#?}");
}

/// Some tests request missing parents or operators.
fn is_expected(complaint: &str) -> bool {
    complaint.contains("/operators/") && complaint.contains("status of 404 (Not Found)")
}
