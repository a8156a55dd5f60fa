//! A command for a shell, with a button that copies it.

use askama::{Template, filters::HtmlSafe};

#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = r#"<div class="shell"><code tabindex="0">{{ self.0 }}</code><button type="button" class="copy" data-copy>Copy</button></div>"#,
    ext = "html"
)]
pub(super) struct Shell(String);

impl HtmlSafe for Shell {}

impl From<String> for Shell {
    fn from(command: String) -> Self {
        Self(command)
    }
}
