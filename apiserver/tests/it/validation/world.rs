//! One server, this one or the real one, and what it answers to a dry run.

use kube::Client;
use serde_json::Value;

use super::case::{Base, Case};

pub(crate) struct World {
    pub(crate) client: Client,
}

/// The code and the message of an answer.
pub(crate) type Answer = (u16, String);

/// What a handler that panics answers.
pub(crate) const CLOSED: Answer = (0, String::new());

impl World {
    /// What is said of the object with this change.
    pub(crate) async fn create(&self, base: &Base, case: &Case) -> Answer {
        let object = case.applied_to(&base.object);
        self.answer("POST", &format!("{}?dryRun=All", base.path), &object).await
    }

    /// Creates the object under another name, and returns it as the server keeps it; nothing if it is refused.
    pub(crate) async fn live(&self, base: &Base, prefix: &str) -> Option<Value> {
        let mut object = base.object.clone();
        // What owns it does not exist: it would be deleted.
        object["metadata"].as_object_mut().unwrap().remove("ownerReferences");
        let name = object["metadata"]["name"].as_str().unwrap();
        if !is_given(name) {
            object["metadata"]["name"] = format!("{prefix}-{name}").into();
        }
        match self.send("POST", &base.path, &object).await {
            Ok(object) => Some(object),
            Err(kube::Error::Api(status)) if status.code == 409 => {
                self.send("GET", &place(base, &object), &Value::Null).await.ok()
            }
            Err(kube::Error::Api(status)) => {
                eprintln!("{prefix} {}: {}", base.path, status.message);
                None
            }
            Err(other) => panic!("not an answer of the server: {other}"),
        }
    }

    /// Removes a live object, which could be in the way of others.
    pub(crate) async fn remove(&self, base: &Base, live: &Value) {
        let _ = self.send("DELETE", &place(base, live), &Value::Null).await;
    }

    /// What is said of this change of a live object.
    pub(crate) async fn update(&self, base: &Base, live: &Value, case: &Case) -> Answer {
        if !case.fits(live) {
            return CLOSED;
        }
        let place = place(base, live);
        let mut answer = self.put(&place, &case.applied_to(live)).await;
        if answer.0 == 409 {
            let now = self.send("GET", &place, &Value::Null).await.unwrap();
            answer = if case.fits(&now) {
                self.put(&place, &case.applied_to(&now)).await
            } else {
                CLOSED
            };
        }
        masked(answer, live)
    }

    /// What is said of this change of a valid status.
    pub(crate) async fn report(&self, base: &Base, live: &Value, case: &Case) -> Answer {
        let mut object = live.clone();
        object["metadata"].as_object_mut().unwrap().remove("managedFields");
        object["status"] = base.status.clone();
        let place = place(base, live);
        let mut answer = self.put(&format!("{place}/status"), &case.applied_to(&object)).await;
        if answer.0 == 409 {
            let now = self.send("GET", &place, &Value::Null).await.unwrap();
            object["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
            answer = self.put(&format!("{place}/status"), &case.applied_to(&object)).await;
        }
        masked(answer, live)
    }

    /// A conflict means that a controller was faster.
    async fn put(&self, place: &str, object: &Value) -> Answer {
        self.answer("PUT", &format!("{place}?dryRun=All"), object).await
    }

    async fn answer(&self, method: &str, path: &str, object: &Value) -> Answer {
        match self.send(method, path, object).await {
            Ok(_) if method == "PUT" => (200, String::new()),
            Ok(_) => (201, String::new()),
            Err(kube::Error::Api(status)) => (status.code, status.message),
            Err(kube::Error::Service(_)) => CLOSED,
            Err(other) => panic!("not an answer of the server: {other}"),
        }
    }

    async fn send(&self, method: &str, path: &str, object: &Value) -> kube::Result<Value> {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(serde_json::to_vec(object).unwrap())
            .unwrap();
        self.client.request(request).await
    }
}

/// The names of some objects are addresses or domains, and cannot be others.
fn is_given(name: &str) -> bool {
    name.contains('.')
}

fn place(base: &Base, live: &Value) -> String {
    format!("{}/{}", base.path, live["metadata"]["name"].as_str().unwrap())
}

/// Without what each server chooses itself.
fn masked((code, says): Answer, live: &Value) -> Answer {
    let chosen = [
        ("/metadata/uid", "<uid>"),
        ("/metadata/creationTimestamp", "<time>"),
        ("/spec/clusterIP", "<address>"),
    ];
    let says = chosen.into_iter().fold(says, |says, (at, mask)| {
        match live.pointer(at).and_then(Value::as_str).filter(|chosen| !chosen.is_empty()) {
            Some(chosen) if chosen != "None" => says.replace(chosen, mask),
            _ => says,
        }
    });
    (code, says)
}
