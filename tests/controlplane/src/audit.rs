//! The audit log of kube-apiserver, read as values. It does not count or filter.

use std::path::Path;

use serde::Deserialize;

use crate::Error;

/// One request that kube-apiserver answered (or, for a watch, began to answer).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// `ResponseComplete`, or `ResponseStarted` when a watch begins, or `Panic`.
    pub stage: String,
    /// The client's `User-Agent`.
    pub user_agent: String,
    /// The user's name, such as `admin` or `restricted`.
    pub user: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The path with its query.
    pub uri: String,
    /// The API group; empty for the core group and for paths of no resource.
    pub group: String,
    /// The plural of the resource; empty for other paths.
    pub resource: String,
    /// `status`, `scale` and so on; empty for the resource itself.
    pub subresource: String,
    /// The namespace, if any.
    pub namespace: String,
    /// The name of the object, if the path has one.
    pub name: String,
    /// The HTTP status; 0 when none was sent.
    pub code: u16,
    /// When the request was received. Texts of times compare as the times.
    pub received: String,
    /// When the stage was reached.
    pub reached: String,
}

impl AuditEvent {
    /// Whether the request writes, by its verb.
    pub fn is_write(&self) -> bool {
        ["create", "update", "patch", "delete", "deletecollection"].contains(&self.verb.as_str())
    }
}

/// Every whole line of the log, oldest first.
pub(crate) fn read(path: &Path) -> Result<Vec<AuditEvent>, Error> {
    match std::fs::read_to_string(path) {
        Ok(log) => parse(&log),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(Error::io("reading", path)(source)),
    }
}

fn parse(log: &str) -> Result<Vec<AuditEvent>, Error> {
    // The last line may be incomplete; the next read has all of it.
    let whole = log.rfind('\n').map_or("", |end| &log[..end]);
    whole
        .lines()
        .map(|line| Ok(serde_json::from_str::<Line>(line)?.into()))
        .collect::<Result<_, _>>()
        .map_err(Error::AuditLog)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    stage: String,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    user: Username,
    verb: String,
    #[serde(default, rename = "requestReceivedTimestamp")]
    received: String,
    #[serde(default, rename = "stageTimestamp")]
    reached: String,
    #[serde(rename = "requestURI")]
    uri: String,
    #[serde(default)]
    object_ref: ObjectRef,
    #[serde(default)]
    response_status: ResponseStatus,
}

#[derive(Deserialize, Default)]
struct Username {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

impl From<Line> for AuditEvent {
    fn from(line: Line) -> Self {
        Self {
            stage: line.stage,
            user_agent: line.user_agent,
            user: line.user.username,
            verb: line.verb,
            uri: line.uri,
            group: line.object_ref.api_group,
            resource: line.object_ref.resource,
            subresource: line.object_ref.subresource,
            namespace: line.object_ref.namespace,
            name: line.object_ref.name,
            code: line.response_status.code,
            received: line.received,
            reached: line.reached,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    const STATUS: &str = concat!(
        r#"{"kind":"Event","stage":"ResponseComplete","requestURI":"/apis/demo.example.com/v1/namespaces/default/widgets/a/status?fieldManager=op","#,
        r#""verb":"patch","user":{"username":"operator","groups":["system:authenticated"]},"userAgent":"test/1","#,
        r#""objectRef":{"resource":"widgets","namespace":"default","name":"a","apiGroup":"demo.example.com","apiVersion":"v1","subresource":"status"},"#,
        r#""responseStatus":{"metadata":{},"status":"Failure","reason":"Conflict","code":409}}"#,
        "\n"
    );

    #[test]
    fn a_request_is_read_with_its_resource_and_answer() {
        let events = parse(STATUS).expect("the line is whole");
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert_eq!((event.verb.as_str(), event.code), ("patch", 409));
        assert_eq!(
            (event.group.as_str(), event.resource.as_str()),
            ("demo.example.com", "widgets")
        );
        assert_eq!((event.name.as_str(), event.subresource.as_str()), ("a", "status"));
        assert_eq!((event.user.as_str(), event.user_agent.as_str()), ("operator", "test/1"));
        assert!(event.is_write());
    }

    #[test]
    fn a_path_of_no_resource_has_empty_names() {
        let line = r#"{"stage":"ResponseComplete","requestURI":"/readyz","verb":"get"}"#;
        let events = parse(&format!("{line}\n")).expect("the line is whole");
        assert_eq!(events[0].resource, "");
        assert_eq!(events[0].code, 0);
        assert!(!events[0].is_write());
    }

    #[test]
    fn an_incomplete_last_line_is_not_read() {
        let events = parse(&format!("{STATUS}{{\"kind\":\"Ev")).expect("only whole lines are read");
        assert_eq!(events.len(), 1);
        assert_eq!(parse("").expect("nothing to read").len(), 0);
    }
}
