//! The login page with a field for a token, and the page of denied access. Works without script.

use std::{fmt, time::SystemTime};

use askama::Template;

use crate::web::ui::frame::{self, Frame, Section};

/// The page for browsers without access.
#[derive(Template)]
#[template(path = "login.html")]
pub(super) struct Entrance {
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
    pub(super) fn login(refused: Option<&dyn fmt::Display>, next: &str, command: String) -> Self {
        let form = Login { next: next.to_owned(), command, can_retry: false };
        Self::new("Log in", refused, Some(form))
    }

    /// Adds a link for browsers that have a session.
    pub(super) fn with_retry(mut self) -> Self {
        self.form.iter_mut().for_each(|form| form.can_retry = true);
        self
    }

    /// Without a login.
    pub(super) fn closed(title: &str, why: &dyn fmt::Display) -> Self {
        Self::new(title, Some(why), None)
    }

    fn new(title: &str, message: Option<&dyn fmt::Display>, form: Option<Login>) -> Self {
        // The page never changes.
        let frame = Frame::new(title, Section::Elsewhere, SystemTime::now()).still_if(true);
        Self { frame, message: message.map(|message| frame::sentence(&message.to_string())), form }
    }
}
