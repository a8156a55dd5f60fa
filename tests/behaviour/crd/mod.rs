//! Types that `operetta::crd!` makes: as children, as related objects, and as JSON.

mod children;
mod values;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operetta::{object::Object, operator::with_related, prelude::*, supervisor::SupervisorBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    recipe::RECIPE,
    world::{Kind, World},
};

operetta::crd!("tests/testdata/crds/certificate.yaml");
operetta::crd!("tests/testdata/crds/http-route.yaml");
operetta::crd!("tests/testdata/crds/service-monitor.yaml");

/// Another version of a type of this module.
mod beta {
    operetta::crd!("tests/testdata/crds/http-route.yaml", version = "v1beta1");
}

const CERTIFICATE: Kind = Kind("test.operetta.dev/v1", "Certificate", "certificates");
const ROUTE: Kind = Kind("test.operetta.dev/v1", "HTTPRoute", "httproutes");
const MONITOR: Kind = Kind("test.operetta.dev/v1", "ServiceMonitor", "servicemonitors");

/// The definitions in the files of the macros above.
fn definitions() -> Vec<CustomResourceDefinition> {
    let files = [
        include_str!("../../testdata/crds/certificate.yaml"),
        include_str!("../../testdata/crds/http-route.yaml"),
        include_str!("../../testdata/crds/service-monitor.yaml"),
    ];
    let documents = files.into_iter().flat_map(serde_yaml_ng::Deserializer::from_str);
    let documents = documents.map(|it| Value::deserialize(it).unwrap());
    let objects = documents.flat_map(|document| match document["items"].as_array() {
        Some(items) => items.clone(),
        None => vec![document],
    });
    let definitions = objects.filter(|object| object["kind"] == "CustomResourceDefinition");
    definitions.map(|definition| serde_json::from_value(definition).unwrap()).collect()
}

async fn install(world: &World) {
    operetta::supervisor::install_crds(&world.client, &definitions()).await.unwrap();
}

/// Each parent has a certificate and a route, and reads the monitor `shared`.
fn register(builder: SupervisorBuilder) -> SupervisorBuilder {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("shop", parent)
        .child::<Certificate>(ChildConfig::apply())
        .child::<HTTPRoute>(ChildConfig::apply())
        .related::<ServiceMonitor>();
    builder.register(config, with_related(sync, related))
}

fn related(_: &Object) -> Related {
    Related::new().named::<ServiceMonitor>("shared")
}

fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let name = request.parent.name();
    let status = json!({"taste": seen(request)?});
    Ok(SyncResponse::status(status).child(certificate(name)).child(route(name)))
}

fn certificate(name: &str) -> Certificate {
    Certificate::new(
        name,
        CertificateSpec {
            secret_name: format!("{name}-tls"),
            dns_names: Some(vec!["shop.example.dev".to_owned()]),
            private_key: Some(CertificateSpecPrivateKey {
                algorithm: Some(CertificateSpecPrivateKeyAlgorithm::Ecdsa),
                ..Default::default()
            }),
            usages: Some(vec![CertificateSpecUsages::DigitalSignature]),
            issuer_ref: CertificateSpecIssuerRef { name: "ca".to_owned(), kind: None },
            ..Default::default()
        },
    )
}

fn route(name: &str) -> HTTPRoute {
    // These lists have no keys: each is one value, in which the server sets the weight and the type as defaults.
    let backend = HTTPRouteSpecRulesBackendRefs {
        name: name.to_owned(),
        port: Some(80),
        ..Default::default()
    };
    let path = HTTPRouteSpecRulesMatchesPath { value: Some("/a".to_owned()), ..Default::default() };
    let matched = HTTPRouteSpecRulesMatches { path: Some(path), ..Default::default() };
    let rule = HTTPRouteSpecRules {
        name: "web".to_owned(),
        matches: Some(vec![matched]),
        backend_refs: Some(vec![backend]),
    };
    HTTPRoute::new(name, HTTPRouteSpec { rules: Some(vec![rule]), ..Default::default() })
}

/// What the typed views have: who issues, whether it is ready, the names of the rules, and the port of the monitor.
fn seen(request: &SyncRequest) -> Result<String> {
    let name = request.parent.name();
    let certificate = request.child::<Certificate>(name)?;
    let issuer = certificate.and_then(|it| it.spec.issuer_ref.kind.as_deref()).unwrap_or("-");
    let status = certificate.and_then(|it| it.status.as_ref());
    let conditions = status.and_then(|it| it.conditions.as_deref()).unwrap_or_default();
    let ready = conditions.iter().any(|it| it.status == CertificateStatusConditionsStatus::True);
    let route = request.child::<HTTPRoute>(name)?;
    let rules = route.and_then(|it| it.spec.rules.as_deref()).unwrap_or_default();
    let rules: Vec<_> = rules.iter().map(|rule| &*rule.name).collect();
    let monitor = request.related_object::<ServiceMonitor>("shared")?;
    let port = monitor.and_then(|it| it.spec.endpoints.first()?.target_port.clone());
    Ok(format!("{issuer} {ready} {} {port:?}", rules.join(",")))
}
