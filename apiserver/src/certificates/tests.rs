use base64::{Engine, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use rcgen::{CertificateParams, DnType, KeyPair, SanType};
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use super::{certificate::Authority, pem, request::Request, signers::Kind, *};
use crate::credentials::Keychain;

fn request(name: &str, organization: &str, address: bool) -> Value {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.distinguished_name.push(DnType::OrganizationName, organization);
    if address {
        params.subject_alt_names.push(SanType::IpAddress([127, 0, 0, 1].into()));
    }
    let text = params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap();
    json!({
        "metadata": { "name": "a" },
        "spec": {
            "request": BASE64_STANDARD.encode(text),
            "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"],
        },
    })
}

fn lines(object: &Value) -> Vec<String> {
    validate_create(object).iter().map(ToString::to_string).collect()
}

#[test]
fn a_certificate_has_the_subject_and_the_names_of_its_request_and_the_usages_of_its_object() {
    let object = request("system:node:a", "system:nodes", true);
    let asked = Request::of(&object).unwrap();
    let usages = ["client auth", "digital signature"];
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    let credentials = Keychain::default().credentials().unwrap();
    let authority = Authority::of(&credentials.authority, &credentials.authority_key).unwrap();
    let text = authority.sign(&asked, &usages, Some(3600), now).unwrap();
    let block = pem::blocks(&text).remove(0);
    let (_, certificate) = X509Certificate::from_der(&block.bytes).unwrap();
    assert_eq!(certificate.subject().as_raw(), asked.subject);
    assert!(!certificate.is_ca());
    assert_eq!(certificate.validity().not_before.timestamp(), 1_800_000_000 - 300);
    assert_eq!(certificate.validity().not_after.timestamp(), 1_800_000_000 + 3600);
    assert!(certificate.key_usage().unwrap().unwrap().value.digital_signature());
    assert!(certificate.extended_key_usage().unwrap().unwrap().value.client_auth);
    let names = certificate.subject_alternative_name().unwrap().unwrap();
    assert_eq!(names.value.general_names.len(), 1);
}

#[test]
fn the_certificate_of_a_user_counts_for_a_year_and_those_of_servers_never_do() {
    let credentials = Keychain::default().credentials().unwrap();
    let now = Timestamp::now();
    let after = |days: i64| now + jiff::SignedDuration::from_hours(24 * days);
    let der = |text: &str| CertificateDer::from(pem::blocks(text).remove(0).bytes);
    let user = crate::users::User::new("jane").group("a").group("b");
    let client = client_certificate(&credentials, &user, now).unwrap();
    let chain = [der(&client.certificate)];
    let named = crate::users::user_of(&chain[0]).unwrap().unwrap();
    assert_eq!((&*named.name, &named.groups[..2]), ("jane", &["a".to_owned(), "b".to_owned()][..]));
    assert!(credentials.check_client(&chain, after(364)).is_ok());
    assert!(credentials.check_client(&chain, after(366)).is_err());
    let authority = Authority::of(&credentials.authority, &credentials.authority_key).unwrap();
    let asked = Request::of(&request("jane", "a", false)).unwrap();
    let server = authority.sign(&asked, &["server auth"], None, now).unwrap();
    assert!(credentials.check_client(&[der(&server)], now).is_err());
}

#[test]
fn signers_refuse_what_is_not_theirs() {
    let node = Request::of(&request("system:node:a", "system:nodes", false)).unwrap();
    let person = Request::of(&request("jane", "people", false)).unwrap();
    let kubelet = ["digital signature", "client auth"];
    let table = [
        (Kind::Client, &person, &["client auth"][..], Ok(())),
        (
            Kind::Client,
            &person,
            &["server auth"][..],
            Err("invalid usage for client certificate: server auth"),
        ),
        (
            Kind::Client,
            &person,
            &["digital signature"][..],
            Err("missing required usage for client certificate: client auth"),
        ),
        (Kind::KubeletClient, &node, &kubelet[..], Ok(())),
        (
            Kind::KubeletClient,
            &person,
            &kubelet[..],
            Err("subject organization is not system:nodes"),
        ),
        (
            Kind::KubeletClient,
            &node,
            &["any"][..],
            Err("usages did not match [client auth digital signature key encipherment]"),
        ),
        (Kind::KubeletServing, &node, &kubelet[..], Err("DNS or IP subjectAltName is required")),
    ];
    for (kind, asked, usages, expected) in table {
        let expected = expected.map_err(str::to_owned);
        assert_eq!(kind.check(asked, usages), expected, "{kind:?} {usages:?}");
    }
}

#[test]
fn requests_are_refused_for_their_fields() {
    let good = request("jane", "people", false);
    assert_eq!(lines(&good), [""; 0]);
    let mut bad = good.clone();
    bad["spec"]["usages"] = json!(["client auth", "client auth"]);
    bad["spec"]["signerName"] = json!("example/x");
    bad["spec"]["expirationSeconds"] = json!(1);
    assert_eq!(
        lines(&bad),
        [
            "spec.usages[1]: Duplicate value: \"client auth\"",
            "spec.signerName: Invalid value: \"example\": should be a domain with at least two \
             segments separated by dots",
            "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 \
             seconds (10 minutes)",
        ]
    );
    bad = good;
    bad["spec"]["request"] = json!(BASE64_STANDARD.encode("nothing"));
    assert_eq!(
        lines(&bad),
        [
            "spec.request: Invalid value: \"bm90aGluZw==\": PEM block type must be CERTIFICATE REQUEST"
        ]
    );
}
