//! Admission: a handler that denies, and one that adds a default. The API server calls both.
//!
//! `cargo run --example webhook` needs no cluster and ends by itself. It prints a denial, and an object with its default.

#![expect(clippy::unnecessary_wraps, reason = "the signatures of handlers")]

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource, api::PostParams};
use operetta::{
    operator::admission::{Admission, AdmissionRequest, Webhook},
    prelude::*,
    testkit::TestCluster,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
}

fn polite(request: &AdmissionRequest<Greeting>) -> Result<Admission> {
    let text = &request.subject().spec.text;
    let is_loud = text.chars().any(char::is_alphabetic) && *text == text.to_uppercase();
    Ok(if is_loud { Admission::invalid("spec.text", "it is too loud") } else { Admission::allow() })
}

fn in_english(_: &AdmissionRequest<Greeting>, greeting: &mut Greeting) -> Result<Admission> {
    greeting.spec.language.get_or_insert_with(|| "en".to_owned());
    Ok(Admission::allow())
}

fn greet(request: &SyncRequest<Greeting>) -> Result<SyncResponse> {
    Ok(SyncResponse::new().child(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": request.parent.metadata.name},
        "data": {"text": request.parent.spec.text},
    })))
}

#[tokio::main]
async fn main() -> Result<()> {
    let cluster = TestCluster::start();
    let operators = cluster
        .run(|supervisor| {
            let greeter = OperatorConfig::custom::<Greeting>("greeter")
                .child::<ConfigMap>(ChildConfig::apply());
            supervisor
                .register(greeter, greet)
                .webhook(Webhook::validate("polite", polite))
                .webhook(Webhook::mutate("in-english", in_english))
                .webhooks("127.0.0.1:0")
        })
        .await?;

    let greetings: Api<Greeting> = Api::default_namespaced(cluster.client());
    let loud = Greeting::new("loud", GreetingSpec { text: "HELLO".to_owned(), language: None });
    if let Err(denied) = greetings.create(&PostParams::default(), &loud).await {
        println!("{denied}");
    }

    let soft = Greeting::new("soft", GreetingSpec { text: "hello".to_owned(), language: None });
    let made = greetings.create(&PostParams::default(), &soft).await?;
    println!("{}", json!(made.spec));
    operators.stop().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use operetta::object::ObjectKey;

    use super::*;

    #[test]
    fn a_loud_greeting_is_denied() {
        let loud = Greeting::new("loud", GreetingSpec { text: "HELLO".to_owned(), language: None });
        let request = AdmissionRequest::create(ObjectKey::namespaced("default", "loud"), loud);
        assert_eq!(polite(&request).unwrap().denial(), Some("spec.text: it is too loud"));
    }
}
