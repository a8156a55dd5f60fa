//! Refusals as API servers, and the proxies before them, word them.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

use super::Target;

/// A refusal: a status code with the body that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    code: StatusCode,
    retry_after: Option<u64>,
    message: Option<String>,
}

impl Refusal {
    /// The refusal with this code, worded as an API server does; a 502 is the page of a proxy.
    ///
    /// # Panics
    /// When the code is not one of an error (400 to 599).
    pub fn new(code: u16) -> Self {
        assert!((400..600).contains(&code), "{code} is no refusal");
        let code = StatusCode::from_u16(code).expect("400 to 599 are codes");
        Self { code, retry_after: None, message: None }
    }

    /// The `Retry-After` in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Another message.
    #[must_use]
    pub fn message(mut self, message: &str) -> Self {
        self.message = Some(message.to_owned());
        self
    }

    /// The status code.
    pub fn code(&self) -> u16 {
        self.code.as_u16()
    }

    pub(super) fn response(&self, target: &Target) -> Response<Bytes> {
        let (media, body) = if self.code == StatusCode::BAD_GATEWAY {
            let page = "<html><head><title>502 Bad Gateway</title></head></html>\n";
            ("text/html", page.to_owned())
        } else {
            ("application/json", self.status(target).to_string())
        };
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = self.code;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn status(&self, target: &Target) -> Value {
        let (reason, message) = self.words(target);
        let message = self.message.clone().unwrap_or(message);
        let resource = target.resource.split('/').next().unwrap_or_default();
        let mut details = json!({"kind": resource});
        // A server that does not know the resource cannot know the object.
        if let Some(name) = target.name.as_ref().filter(|_| self.code() != 404) {
            details["name"] = json!(name);
        }
        if let Some(seconds) = self.retry_after {
            details["retryAfterSeconds"] = json!(seconds);
        }
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "details": details, "code": self.code(),
        })
    }

    /// Reason and message.
    fn words(&self, target: &Target) -> (&'static str, String) {
        let Target { verb, resource, name, namespace, .. } = target;
        let name = name.as_deref().unwrap_or_default();
        let (reason, message) = match self.code() {
            401 => ("Unauthorized", "Unauthorized"),
            403 => return ("Forbidden", forbidden(verb, resource, name, namespace.as_deref())),
            404 => ("NotFound", "the server could not find the requested resource"),
            409 => {
                let why = "the object has been modified; \
                           please apply your changes to the latest version and try again";
                let what = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
                return ("Conflict", what);
            }
            410 => ("Expired", "The provided continue parameter is too old"),
            413 => ("RequestEntityTooLarge", "limit is 3145728"),
            422 => return ("Invalid", format!("{resource} \"{name}\" is invalid")),
            429 => ("TooManyRequests", "too many requests, please try again later."),
            500 => ("InternalError", "Internal error occurred: etcdserver: leader changed"),
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => ("Timeout", "the server was unable to return a response in time"),
            _ => ("", "the server rejected our request"),
        };
        (reason, message.to_owned())
    }
}

fn forbidden(verb: &str, resource: &str, name: &str, namespace: Option<&str>) -> String {
    let place = namespace.map_or_else(
        || "at the cluster scope".to_owned(),
        |namespace| format!("in the namespace \"{namespace}\""),
    );
    format!(
        "{resource} \"{name}\" is forbidden: User \"somebody\" cannot {verb} resource \
         \"{resource}\" in API group \"\" {place}"
    )
}
