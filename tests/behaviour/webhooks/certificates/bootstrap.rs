//! A program whose own objects pass its own webhooks starts on an empty cluster.

#![expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]

use super::*;
use crate::recipe::{self, RECIPE, config_map, recipe};

const SEEN: &str = "seen.operetta.dev/by";

/// Marks each object, so that a test sees that it was asked.
fn mark(_: &AdmissionRequest, object: &mut Value) -> Result<Admission> {
    object["metadata"]["annotations"][SEEN] = json!("mark");
    Ok(Admission::allow())
}

fn marked(request: &AdmissionRequest) -> Result<Admission> {
    Ok(match &request.subject()["metadata"]["annotations"][SEEN] {
        mark if mark == "mark" => Admission::allow(),
        _ => Admission::invalid("metadata.annotations", "it was not marked"),
    })
}

/// The webhooks of parents and children, with the names by which they are called.
fn webhooks() -> Vec<(Kind, Webhook)> {
    let of = |kind: Kind| K8sType::namespaced(kind.0, kind.1, kind.2);
    [RECIPE, CONFIG_MAP]
        .into_iter()
        .flat_map(|kind| {
            let mutating = Webhook::mutate_type("mark", of(kind), mark);
            let validating = Webhook::validate_type("marked", of(kind), marked);
            [(kind, mutating), (kind, validating)]
        })
        .collect()
}

/// As a chart installs it before the program runs: nobody answers, and an empty `caBundle` trusts nobody.
async fn install(world: &World, program: &str, port: u16) {
    for (kind, wanted) in [(MUTATING, WebhookKind::Mutating), (VALIDATING, WebhookKind::Validating)]
    {
        let of_kind = webhooks().into_iter().filter(|(_, webhook)| webhook.kind() == wanted);
        let entries: Vec<Value> = of_kind
            .map(|(asked, webhook)| {
                let (group, version) = asked.0.split_once('/').unwrap_or(("", asked.0));
                let url = format!("https://127.0.0.1:{port}/webhooks/{}", webhook.name());
                json!({
                    "name": webhook.name(), "clientConfig": {"url": url, "caBundle": ""},
                    "rules": [{
                        "apiGroups": [group], "apiVersions": [version], "resources": [asked.2],
                        "operations": ["CREATE", "UPDATE"],
                    }],
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": world.namespace},
                    },
                    "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                })
            })
            .collect();
        world.create(kind, json!({"metadata": {"name": program}, "webhooks": entries})).await;
    }
}

#[operetta_harness::test(server)]
async fn a_program_starts_behind_its_own_webhooks_on_an_empty_cluster() {
    let world = World::new().await;
    let (program, port) = (format!("bootstrap-{}", world.namespace), free_port());
    install(&world, &program, port).await;
    let dish = recipe("a", &[config_map("dish", json!({"salt": "little"}))]);
    let refused = || async {
        let created = world.try_create(RECIPE, dish.clone()).await;
        let Err(error) = created else {
            world.delete(RECIPE, "a").await;
            return String::new();
        };
        error.to_string()
    };
    let is_refused = |error: &String| error.contains("failed calling webhook");
    eventually("a refusal while nobody answers", refused, is_refused).await;

    let named = program.clone();
    let operators = world
        .start(move |builder| {
            let builder = builder
                .register(recipe::config("bootstrap"), recipe::handler())
                .program(&named, "1")
                .webhooks(&format!("127.0.0.1:{port}"))
                .webhook_service(&named)
                .webhook_lifetimes(LONG, &["127.0.0.1"]);
            webhooks().into_iter().fold(builder, |builder, (_, webhook)| builder.webhook(webhook))
        })
        .await;
    let created = || async { world.try_create(RECIPE, dish.clone()).await.is_ok() };
    eventually("a parent", created, |is_created| *is_created).await;
    world.until_ready(RECIPE, "a").await;
    for (kind, name) in [(RECIPE, "a"), (CONFIG_MAP, "dish")] {
        assert_eq!(world.get(kind, name).await["metadata"]["annotations"][SEEN], "mark");
    }
    // Of what the webhooks add, the operator undoes nothing.
    operators.settled().await;
    for kind in [MUTATING, VALIDATING] {
        world.delete(kind, &program).await;
    }
    operators.stop().await;
    delete_secret(&world, &program).await;
}
