//! The login page with a field for a token, and the page of denied access. Works without script.

use std::{fmt, time::SystemTime};

use actix_web::http::header::HeaderMap;
use askama::Template;

use super::frame::{self, Frame, Section};
use crate::web::{accept, endpoint::JSON};

/// The page for browsers without access.
#[derive(Template)]
#[template(path = "login.html")]
pub(in crate::web) struct Entrance {
    frame: Frame,
    message: Option<String>,
    form: Option<Login>,
}

struct Login {
    next: String,
    /// The command that creates a token.
    command: String,
    /// Whether to show a link to the same page. A link from another site is followed without the
    /// cookie, and this one with it.
    can_retry: bool,
}

impl Entrance {
    /// The login, with the error of the last attempt.
    pub(in crate::web) fn login(
        refused: Option<&dyn fmt::Display>,
        next: &str,
        audiences: &[String],
    ) -> Self {
        let (next, command) = (next.to_owned(), command(audiences));
        let form = Login { next, command, can_retry: false };
        Self::new("Log in", refused, Some(form))
    }

    /// Adds a link for browsers that have a session.
    pub(in crate::web) fn with_retry(mut self) -> Self {
        self.form.iter_mut().for_each(|form| form.can_retry = true);
        self
    }

    /// Without a login.
    pub(in crate::web) fn closed(title: &str, why: &dyn fmt::Display) -> Self {
        Self::new(title, Some(why), None)
    }

    fn new(title: &str, message: Option<&dyn fmt::Display>, form: Option<Login>) -> Self {
        // The page never changes.
        let frame = Frame::new(title, Section::Elsewhere, SystemTime::now()).still_if(true);
        Self { frame, message: message.map(|message| frame::sentence(&message.to_string())), form }
    }
}

pub(in crate::web) fn wants_html(headers: &HeaderMap) -> bool {
    accept::prefers(headers, "text/html", JSON)
}

fn command(audiences: &[String]) -> String {
    let audience = audiences.first().map(|audience| format!(" --audience {audience}"));
    format!("kubectl create token NAME --namespace NAMESPACE{}", audience.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_creates_a_token_with_the_audience_of_this_server() {
        assert_eq!(command(&[]), "kubectl create token NAME --namespace NAMESPACE");
        let audiences = ["operetta".to_owned(), "other".to_owned()];
        assert!(command(&audiences).ends_with(" --audience operetta"));
    }
}
