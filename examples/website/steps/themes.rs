//! Asks a server for themes: pages with a place for another page.

use anyhow::{Context, bail};
use http_body_util::BodyExt;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use operetta::prelude::*;

/// The page in the theme of this name.
pub(crate) async fn apply(server: &str, theme: &str, page: &str) -> Result<String> {
    let client = Client::builder(TokioExecutor::new()).build_http::<String>();
    let address = format!("{server}/{theme}.html").parse()?;
    let answer = client.get(address).await.context("the themes cannot be reached")?;
    match answer.status().as_u16() {
        200 => {}
        404 => return Err(Permanent(format!("there is no theme `{theme}`")).into()),
        other => bail!("the server of themes answered {other}"),
    }
    let theme = answer.into_body().collect().await?.to_bytes();
    Ok(str::from_utf8(&theme)?.replace("{page}", page))
}
