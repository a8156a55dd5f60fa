//! The pictures of `docs/the-page.md`: `UPDATE_SCREENSHOTS=1 cargo test --test browser pictures`.

use std::path::Path;

use operetta_harness::replace;

use crate::{
    browser::{Look, NARROW, WIDE},
    visit::visit,
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/screenshots");

const FIELD: Look = Look { height: 780, width: 1120, ..WIDE };

const TALL: Look = Look { height: 860, ..FIELD };

const PICTURES: &[(&str, &str, Look)] = &[
    ("overview", "/", FIELD),
    ("parent-failing", "/ui/operators/websites/parents/shop/checkout", FIELD),
    ("parent-dark", "/ui/operators/websites/parents/shop/stock", FIELD.dark()),
    ("parent-events", "/ui/operators/websites/parents/shop/stock?events", TALL),
    ("map", "/ui/operators/websites/map/shop/stock?at=configmaps%2Fshop%2Fstock-content", FIELD),
    ("operator", "/ui/operators/websites", FIELD),
    ("narrow", "/", NARROW),
];

#[operetta_harness::test]
async fn the_screenshots_are_updated() {
    if std::env::var_os("UPDATE_SCREENSHOTS").is_none() {
        operetta_harness::ignore("UPDATE_SCREENSHOTS is not set");
    }
    visit(async |browser, _| {
        for (name, view, look) in PICTURES {
            browser.look(*look).await;
            browser.goto(view).await;
            browser.until_shown("#live", "Live").await;
            let file = Path::new(FOLDER).join(format!("{name}.png"));
            replace(&file, browser.picture().await).unwrap();
        }
    })
    .await;
}
