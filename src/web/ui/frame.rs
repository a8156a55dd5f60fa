//! The frame of every view, and the answer with a view.

use std::time::SystemTime;

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use askama::Template;

use super::{assets, links, parts::Link, time};
use crate::{
    board::Board,
    web::{
        members::{Answers, Missing},
        status::Refused,
        visitor::{VISITOR, Visitor},
    },
};

pub(super) struct Frame {
    pub(super) title: String,
    pub(super) crumbs: Vec<Link>,
    pub(super) section: Section,
    /// The stream of events after which the script fetches the page again.
    pub(super) events: String,
    /// The interval of refreshes in seconds, for changes without events.
    pub(super) refresh: Option<u32>,
    /// The minimum time between two requests for the page in milliseconds; a second by default.
    pub(super) gap: Option<u32>,
    pub(super) is_stopping: bool,
    /// What the page lacks of other processes, in sentences.
    pub(super) lacks: Vec<String>,
    /// The operator and the namespace that the page is about, if it is about one of each.
    place: Option<(String, String)>,
    pub(super) visitor: Option<Visitor>,
    pub(super) now: SystemTime,
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Operators,
    Activity,
    Cache,
    Elsewhere,
}

/// An error as a page.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(in crate::web) struct NoPage(#[from] Refused);

#[derive(Template)]
#[template(path = "nothing.html")]
struct Nothing {
    frame: Frame,
    message: String,
}

/// Of a page with parents of other processes, in seconds.
const REFRESH: u32 = 10;

impl Frame {
    pub(super) fn new(title: impl Into<String>, section: Section, now: SystemTime) -> Self {
        Self {
            title: title.into(),
            crumbs: Vec::new(),
            section,
            events: "/api/v1/events?kind=phase,gone,reconcile,operator,type".to_owned(),
            refresh: None,
            gap: None,
            is_stopping: false,
            lacks: Vec::new(),
            place: None,
            visitor: visitor(),
            now,
            style: assets::href("page.css"),
            script: assets::href("page.js"),
            icon: assets::href("icon.svg"),
        }
    }

    pub(super) fn of(mut self, board: &Board) -> Self {
        self.is_stopping = board.is_stopping();
        self
    }

    /// The same with another title.
    pub(super) fn named(self, title: String) -> Self {
        Self { title, ..self }
    }

    /// Says what it lacks of other processes, and is refreshed regularly: their changes are no events here.
    pub(super) fn merged_from<T>(mut self, answers: &Answers<T>) -> Self {
        self.lacks = answers.missing.iter().map(Missing::to_string).collect();
        if answers.is_shared {
            self.refresh = self.refresh.or(Some(REFRESH));
        }
        self
    }

    pub(super) fn below(mut self, text: impl Into<String>, href: impl Into<String>) -> Self {
        self.crumbs.push(Link { text: text.into(), href: href.into() });
        self
    }

    /// Listens to changes of one operator, or of one parent.
    pub(super) fn listening_to(
        mut self,
        operator: &str,
        key: Option<&crate::object::ObjectKey>,
    ) -> Self {
        self.events = links::events(operator, key);
        let namespace = key.and_then(|key| key.namespace.as_deref());
        self.place = namespace.map(|namespace| (operator.to_owned(), namespace.to_owned()));
        self
    }

    /// Listens to changes of the parents of an operator in one namespace.
    pub(super) fn listening_in(mut self, operator: &str, namespace: &str) -> Self {
        self.events = links::events_in(operator, namespace);
        self.place = Some((operator.to_owned(), namespace.to_owned()));
        self
    }

    /// Listens to all changes that a search in this place may be about; each may be empty.
    pub(super) fn searching(self, operator: &str, namespace: &str) -> Self {
        match (operator, namespace) {
            ("", _) => self,
            (operator, "") => self.listening_to(operator, None),
            (operator, namespace) => self.listening_in(operator, namespace),
        }
    }

    /// Where users search who may see no more than that.
    pub(super) fn limit(&self) -> Option<&(String, String)> {
        let is_limited = self.visitor.as_ref().is_some_and(|visitor| visitor.is_limited);
        self.place.as_ref().filter(|_| is_limited)
    }

    /// Does not listen to changes, because the view is expensive.
    pub(super) fn still_if(mut self, is_still: bool) -> Self {
        if is_still {
            self.events.clear();
        }
        self
    }

    /// Refreshes with longer pauses, and regularly without events, because the view reads from the API
    /// server.
    pub(super) fn slow_if(mut self, is_slow: bool) -> Self {
        if is_slow && !self.events.is_empty() {
            (self.gap, self.refresh) = (Some(5000), Some(15));
        }
        self
    }

    pub(super) fn refreshed_every(mut self, seconds: u32) -> Self {
        self.refresh = Some(seconds);
        self
    }

    pub(super) fn is_in(&self, section: Section) -> bool {
        self.section == section
    }

    pub(super) fn exact_now(&self) -> String {
        time::exact(self.now)
    }
}

pub(super) fn answer(view: &impl Template) -> HttpResponse {
    rendered(StatusCode::OK, view)
}

pub(super) fn rendered(code: StatusCode, view: &impl Template) -> HttpResponse {
    match view.render() {
        Ok(html) => HttpResponse::build(code).content_type("text/html; charset=utf-8").body(html),
        Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}

impl ResponseError for NoPage {
    fn status_code(&self) -> StatusCode {
        self.0.status_code()
    }

    fn error_response(&self) -> HttpResponse {
        let frame = Frame::new("Nothing here", Section::Operators, SystemTime::now());
        let frame = frame.below("Overview", "/");
        let message = sentence(&self.0.to_string());
        rendered(self.status_code(), &Nothing { frame, message })
    }
}

/// The user of the current request, if authenticated.
fn visitor() -> Option<Visitor> {
    VISITOR.try_with(Clone::clone).ok().flatten()
}

/// Adds a capital and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
