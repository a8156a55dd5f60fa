//! What stands before everything else where the API server decides who is let in: a field for a
//! token, or why none helps. Works without script.

use std::{fmt, time::SystemTime};

use actix_web::{
    HttpResponse,
    http::{StatusCode, header::HeaderMap},
};
use askama::Template;

use super::frame::{self, Frame, Section};
use crate::web::{accept, endpoint::JSON};

/// A page for people who are not let in.
#[derive(Template)]
#[template(path = "login.html")]
pub(in crate::web) struct Entrance {
    frame: Frame,
    message: Option<String>,
    form: Option<Login>,
}

/// The form.
struct Login {
    /// Where to go then.
    next: String,
    /// What makes a token.
    command: String,
    /// Who follows a link of another site comes without the cookie, which the next link brings.
    has_way_on: bool,
}

impl Entrance {
    /// To log in; with why that was refused.
    pub(in crate::web) fn login(
        refused: Option<&dyn fmt::Display>,
        next: &str,
        audiences: &[String],
    ) -> Self {
        let (next, command) = (next.to_owned(), command(audiences));
        let form = Login { next, command, has_way_on: false };
        Self::new("Log in", refused, Some(form))
    }

    /// With a link for those who have logged in before.
    pub(in crate::web) fn with_way_on(mut self) -> Self {
        self.form.iter_mut().for_each(|form| form.has_way_on = true);
        self
    }

    /// Without a way in.
    pub(in crate::web) fn closed(title: &str, why: &dyn fmt::Display) -> Self {
        Self::new(title, Some(why), None)
    }

    fn new(title: &str, message: Option<&dyn fmt::Display>, form: Option<Login>) -> Self {
        // Nobody listens, and nothing changes.
        let frame = Frame::new(title, Section::Elsewhere, SystemTime::now()).still_if(true);
        Self { frame, message: message.map(|message| frame::sentence(&message.to_string())), form }
    }
}

pub(in crate::web) fn show(code: StatusCode, entrance: &Entrance) -> HttpResponse {
    frame::rendered(code, entrance)
}

/// Whether somebody wants to read the answer in a browser.
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
    fn the_command_makes_a_token_that_is_meant_for_this_server() {
        assert_eq!(command(&[]), "kubectl create token NAME --namespace NAMESPACE");
        let audiences = ["operetta".to_owned(), "other".to_owned()];
        assert!(command(&audiences).ends_with(" --audience operetta"));
    }
}
