//! The audit log of kube-apiserver, read as values. It does not count or filter.
//!
//! kube-apiserver writes a line when it has received a request, before it does anything with it, and another one after
//! its answer. A reader that waits for the second lines of all first lines misses no effect that it has seen.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::Error;

/// kube-apiserver gives up a request after a minute.
const ANSWERED_WITHIN: Duration = Duration::from_secs(90);
const BETWEEN_READS: Duration = Duration::from_millis(10);
/// The stage of a request that is not answered.
const RECEIVED: &str = "RequestReceived";

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
    /// What a write of a Lease sent; null for other requests.
    pub body: Value,
}

impl AuditEvent {
    /// Whether the request writes, by its verb.
    pub fn is_write(&self) -> bool {
        ["create", "update", "patch", "delete", "deletecollection"].contains(&self.verb.as_str())
    }
}

/// The log of one control plane, of which every line is read once.
#[derive(Debug)]
pub(crate) struct AuditLog {
    path: PathBuf,
    /// How many bytes are read.
    read: u64,
    events: Vec<AuditEvent>,
    /// Verb and path of the requests that are received and not answered, by their ids. Watches are not among them.
    unanswered: BTreeMap<String, String>,
}

impl AuditLog {
    /// The log in this file, which need not exist yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, read: 0, events: Vec::new(), unanswered: BTreeMap::new() }
    }

    /// Every response, oldest first, once those requests have one that were received before. Blocks.
    pub(crate) fn events(&mut self) -> Result<Vec<AuditEvent>, Error> {
        self.read_on()?;
        let (started, mut awaited) = (Instant::now(), self.unanswered.clone());
        while !awaited.is_empty() {
            if started.elapsed() > ANSWERED_WITHIN {
                let requests = awaited.into_values().collect();
                return Err(Error::Unanswered { waited: started.elapsed(), requests });
            }
            std::thread::sleep(BETWEEN_READS);
            self.read_on()?;
            awaited.retain(|id, _| self.unanswered.contains_key(id));
        }
        Ok(self.events.clone())
    }

    /// Reads what a killed server has written. It answers nothing any more, and its last line may be incomplete.
    pub(crate) fn end_of_server(&mut self) -> Result<(), Error> {
        self.read_on()?;
        self.unanswered.clear();
        self.read = std::fs::metadata(&self.path).map_or(self.read, |file| file.len());
        Ok(())
    }

    fn read_on(&mut self) -> Result<(), Error> {
        let log = self.unread().map_err(Error::io("reading", &self.path))?;
        // The last line may be incomplete; the next read has all of it.
        let whole = log.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.take(&log[..whole])?;
        self.read += whole as u64;
        Ok(())
    }

    fn unread(&self) -> std::io::Result<Vec<u8>> {
        let mut file = match File::open(&self.path) {
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        file.seek(SeekFrom::Start(self.read))?;
        let mut log = Vec::new();
        file.read_to_end(&mut log)?;
        Ok(log)
    }

    fn take(&mut self, lines: &[u8]) -> Result<(), Error> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut line: Line = serde_json::from_slice(line).map_err(Error::AuditLog)?;
            let id = std::mem::take(&mut line.audit_id);
            match line.stage.as_str() {
                RECEIVED if line.verb == "watch" => {}
                RECEIVED => drop(self.unanswered.insert(id, format!("{} {}", line.verb, line.uri))),
                _ => {
                    self.unanswered.remove(&id);
                    self.events.push(line.into());
                }
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    stage: String,
    #[serde(default, rename = "auditID")]
    audit_id: String,
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
    #[serde(default)]
    request_object: Value,
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
            body: line.request_object,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::home::Home;

    const STATUS: &str = concat!(
        r#"{"kind":"Event","auditID":"1","stage":"ResponseComplete","#,
        r#""requestURI":"/apis/demo.example.com/v1/namespaces/default/widgets/a/status?fieldManager=op","#,
        r#""verb":"patch","user":{"username":"operator","groups":["system:authenticated"]},"userAgent":"test/1","#,
        r#""objectRef":{"resource":"widgets","namespace":"default","name":"a","apiGroup":"demo.example.com","apiVersion":"v1","subresource":"status"},"#,
        r#""responseStatus":{"metadata":{},"status":"Failure","reason":"Conflict","code":409}}"#,
        "\n"
    );

    /// A log in a file, and the file.
    struct Written {
        log: AuditLog,
        file: File,
        _home: Home,
    }

    fn written(lines: &str) -> Written {
        let home = Home::create().expect("a folder");
        let path = home.write("audit.log", lines).expect("written");
        let file = File::options().append(true).open(&path).expect("it exists");
        Written { log: AuditLog::new(path), file, _home: home }
    }

    fn line(id: &str, stage: &str, verb: &str) -> String {
        let line = serde_json::json!({
            "auditID": id, "stage": stage, "requestURI": format!("/{id}"), "verb": verb,
        });
        format!("{line}\n")
    }

    impl Written {
        fn append(&mut self, text: &str) {
            self.file.write_all(text.as_bytes()).expect("written");
        }

        /// The paths of the answered requests.
        fn answered(&mut self) -> Vec<String> {
            let events = self.log.events().expect("all are answered");
            events.into_iter().map(|event| event.uri).collect()
        }
    }

    #[test]
    fn a_request_is_read_with_its_resource_and_answer() {
        let events = written(STATUS).log.events().expect("the line is whole");
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
        let events = written(&line("readyz", "ResponseComplete", "get")).log.events();
        let event = events.expect("the line is whole").remove(0);
        assert_eq!((event.resource.as_str(), event.code), ("", 0));
        assert!(!event.is_write());
    }

    #[test]
    fn an_incomplete_last_line_is_read_once_it_is_complete() {
        let mut written = written(STATUS);
        let next = line("2", "ResponseComplete", "get");
        written.append(&next[..9]);
        assert_eq!(written.answered().len(), 1);
        written.append(&next[9..]);
        assert_eq!(written.answered()[1], "/2");
    }

    #[test]
    fn a_log_that_is_not_there_yet_is_empty() {
        let mut log = AuditLog::new("/nowhere/audit.log".into());
        assert_eq!(log.events().expect("nothing to read"), []);
    }

    #[test]
    fn a_read_waits_for_the_answers_of_the_requests_before_it_and_for_no_watch() {
        let received =
            line("1", "RequestReceived", "patch") + &line("2", "RequestReceived", "watch");
        let mut log = written(&received);
        log.log.read_on().expect("whole lines");
        assert_eq!(log.log.unanswered.values().collect::<Vec<_>>(), ["patch /1"]);
        log.append(&line("3", "RequestReceived", "create"));
        log.append(&line("1", "ResponseComplete", "patch"));
        log.log.read_on().expect("whole lines");
        assert_eq!(log.log.unanswered.values().collect::<Vec<_>>(), ["create /3"]);
        log.append(&line("3", "Panic", "create"));
        assert_eq!(log.answered(), ["/1", "/3"]);
    }

    #[test]
    fn a_killed_server_answers_nothing_and_leaves_an_incomplete_line() {
        let mut log = written(&(line("1", "RequestReceived", "patch") + "{\"kind\":\"Ev"));
        log.log.end_of_server().expect("whole lines");
        log.append(&line("2", "ResponseComplete", "get"));
        assert_eq!(log.answered(), ["/2"]);
    }
}
