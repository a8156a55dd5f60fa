//! What a server says of a request: code, causes, warnings.

use std::{fmt, sync::LazyLock};

use http::{Request, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer without what depends on the order of maps. Of one that is no refusal the body is kept.
/// What a handler that panics says is nothing, with the code 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<Cause>,
    /// Where there are no causes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    pub(crate) body: Value,
}

/// One cause of a refusal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Cause {
    pub(crate) field: String,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Refusal {
    /// Where what is wrong.
    pub(crate) fn fields(&self) -> Vec<(&str, &str)> {
        self.causes.iter().map(|cause| (cause.field.as_str(), cause.reason.as_str())).collect()
    }

    pub(crate) fn without_body(self) -> Self {
        Self { body: Value::Null, ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)?;
        for Cause { field, reason, message } in &self.causes {
            write!(f, "\n    {reason} {field}: {message}")?;
        }
        for warning in &self.warnings {
            write!(f, "\n    warning {warning}")?;
        }
        Ok(())
    }
}

/// The real server makes up a number for the name of a type.
static TYPE: LazyLock<Regex> = LazyLock::new(|| Regex::new("selfType[0-9]+").unwrap());

pub(crate) async fn ask(client: &Client, method: &str, path: &str, object: &Value) -> Refusal {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "differential/1.0");
    let text = if object.is_null() { Vec::new() } else { serde_json::to_vec(object).unwrap() };
    let sent = client.send(request.body(Body::from(text)).unwrap()).await;
    let Ok(response) = sent else { return Refusal::default() };
    let (parts, body) = response.into_parts();
    let body: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
    let warnings = parts.headers.get_all(header::WARNING).iter();
    let mut warnings: Vec<_> = warnings.map(|it| it.to_str().unwrap().to_owned()).collect();
    warnings.sort();
    let is_refusal = body["kind"] == "Status";
    let mut causes = if is_refusal { causes(&body) } else { Vec::new() };
    causes.sort();
    let message =
        if is_refusal && causes.is_empty() { masked(&body["message"]) } else { String::new() };
    let body = if is_refusal { Value::Null } else { body };
    Refusal { code: parts.status.as_u16(), causes, message, warnings, body }
}

fn causes(status: &Value) -> Vec<Cause> {
    let causes = status["details"]["causes"].as_array().into_iter().flatten();
    let cause = |cause: &Value| Cause {
        field: masked(&cause["field"]),
        reason: masked(&cause["reason"]),
        message: masked(&cause["message"]),
    };
    causes.map(cause).collect()
}

fn masked(text: &Value) -> String {
    TYPE.replace_all(text.as_str().unwrap_or_default(), "selfType").into_owned()
}
