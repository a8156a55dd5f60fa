//! One decision after another, for one process.

use std::time::{Duration, SystemTime};

use k8s_openapi::ByteString;

use super::{
    content::Damage,
    decision::{Known, Lifetimes, Reason, Rotation},
};
use crate::recipes::{CertificateError, ServiceNames, TlsData};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

fn at(since: Duration) -> SystemTime {
    SystemTime::UNIX_EPOCH + DAY * 20_000 + since
}

fn rotation() -> Rotation {
    Rotation { names: ServiceNames::of("shop", "ns"), lifetimes: Lifetimes::default() }
}

/// What is written at a time, and why; the Secret as it is where nothing is.
fn decided(known: Known<'_>, since: Duration) -> (TlsData, Vec<Reason>) {
    let decision = rotation().decide(known, at(since)).unwrap();
    assert_eq!(decision.write.is_some(), !decision.reasons.is_empty());
    let data = decision.write.or_else(|| known.secret.cloned()).unwrap();
    let again = Known { secret: Some(&data), ..known };
    assert_eq!(rotation().decide(again, at(since)).unwrap().reasons, [], "it is written once");
    (data, decision.reasons)
}

fn first() -> TlsData {
    decided(Known::default(), Duration::ZERO).0
}

/// With what is in the Secret as published, as after a while.
fn settled(data: &TlsData) -> Known<'_> {
    Known { secret: Some(data), before: Some(data), published: Some(&data["ca.crt"].0) }
}

fn authorities(data: &TlsData) -> Vec<String> {
    let text = String::from_utf8(data["ca.crt"].0.clone()).unwrap();
    let all = text.split_inclusive("-----END CERTIFICATE-----").map(|it| it.trim().to_owned());
    all.filter(|it| !it.is_empty()).collect()
}

fn text(bytes: &str) -> ByteString {
    ByteString(bytes.as_bytes().to_vec())
}

#[test]
fn the_first_content_has_all_parts_and_is_kept_for_sixty_days() {
    let (data, reasons) = decided(Known::default(), Duration::ZERO);
    assert_eq!(data.keys().collect::<Vec<_>>(), ["ca.crt", "ca.key", "tls.crt", "tls.key"]);
    assert!(matches!(
        reasons[..],
        [Reason::Absent, Reason::NewAuthority(_), Reason::NewServing(_)]
    ));
    let decision = rotation().decide(settled(&data), at(2 * HOUR)).unwrap();
    assert!(decision.write.is_none());
    assert!(decision.look_again > 59 * DAY && decision.look_again < 60 * DAY, "{decision:?}");
}

#[test]
fn a_serving_certificate_is_renewed_by_the_same_authority() {
    let data = first();
    let (renewed, reasons) = decided(settled(&data), 60 * DAY);
    assert!(matches!(reasons[..], [Reason::NewServing(_)]), "{reasons:?}");
    assert_ne!(renewed["tls.crt"], data["tls.crt"]);
    assert_eq!((&renewed["ca.crt"], &renewed["ca.key"]), (&data["ca.crt"], &data["ca.key"]));
}

#[test]
fn a_new_authority_is_trusted_then_signs_and_then_the_old_one_goes() {
    let mut data = first();
    for days in [60, 120, 180, 240] {
        data = decided(settled(&data), days * DAY).0;
    }
    let old = authorities(&data);
    let (trusted, reasons) = decided(settled(&data), 244 * DAY);
    assert!(matches!(reasons[..], [Reason::NewAuthority(_)]), "{reasons:?}");
    assert_eq!(authorities(&trusted)[1..], old);
    assert_eq!(trusted["tls.crt"], data["tls.crt"]);

    // Not before clients know it, whatever the time.
    let unpublished = Known { published: Some(&data["ca.crt"].0), ..settled(&trusted) };
    assert_eq!(decided(unpublished, 250 * DAY).1, []);
    // Not at once when they do.
    assert_eq!(decided(settled(&trusted), 244 * DAY + HOUR / 2).1, []);
    let (signed, reasons) = decided(settled(&trusted), 244 * DAY + HOUR);
    assert!(matches!(reasons[..], [Reason::NewServing(_)]), "{reasons:?}");
    assert_eq!(signed["ca.crt"], trusted["ca.crt"]);

    assert_eq!(decided(settled(&signed), 244 * DAY + HOUR * 3 / 2).1, []);
    let (dropped, reasons) = decided(settled(&signed), 244 * DAY + 2 * HOUR);
    assert_eq!(reasons, [Reason::Dropped(1)]);
    assert_eq!(authorities(&dropped), authorities(&signed)[..1]);
    assert_eq!(dropped["tls.crt"], signed["tls.crt"]);
}

#[test]
fn what_expired_while_nobody_was_there_is_replaced_at_once() {
    let data = first();
    let (renewed, reasons) = decided(settled(&data), 1000 * DAY);
    assert_eq!(authorities(&renewed).len(), 1, "{reasons:?}");
    let (renewed, reasons) = decided(settled(&data), 100 * DAY);
    assert!(
        matches!(
            reasons[..],
            [Reason::Unusable(CertificateError::NotValid), Reason::NewServing(_)]
        ),
        "{reasons:?}"
    );
    assert_eq!(renewed["ca.crt"], data["ca.crt"]);
}

#[test]
fn a_certificate_for_other_names_is_replaced_by_the_trusted_authority() {
    let data = first();
    let other = Rotation { names: ServiceNames::of("store", "ns"), ..rotation() };
    // Also when the authority is due: another one comes beside it.
    for (days, authorities_then) in [(1, 1), (244, 2)] {
        let decision = other.decide(settled(&data), at(days * DAY)).unwrap();
        let renewed = decision.write.unwrap();
        assert_ne!(renewed["tls.crt"], data["tls.crt"]);
        assert_eq!(authorities(&renewed).len(), authorities_then);
        assert!(decision.reasons[0].is_damage());
    }
}

#[test]
fn a_secret_that_was_deleted_is_made_again_without_a_change_of_what_is_served() {
    let data = first();
    let known = Known { secret: None, before: Some(&data), published: None };
    let (again, reasons) = decided(known, DAY);
    assert!(matches!(reasons[..], [Reason::Absent, Reason::NewAuthority(_)]), "{reasons:?}");
    assert_eq!(again["tls.crt"], data["tls.crt"]);
    assert_eq!(authorities(&again)[1..], authorities(&data));
    assert_ne!(again["ca.key"], data["ca.key"]);
    let (signed, _) = decided(settled(&again), 2 * DAY);
    assert_ne!(signed["tls.crt"], data["tls.crt"]);
}

#[test]
fn each_damage_is_named_and_repaired() {
    let (data, other) = (first(), first());
    for (name, value, expected) in [
        ("ca.key", None, Damage::Missing("ca.key")),
        ("tls.key", None, Damage::Missing("tls.key")),
        ("ca.crt", Some(text("")), Damage::Missing("ca.crt")),
        ("ca.crt", Some(text("garbage")), Damage::Unreadable("ca.crt")),
        (
            "ca.crt",
            Some(text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")),
            Damage::Unreadable("ca.crt"),
        ),
        ("tls.crt", Some(ByteString(vec![0xff, 0xfe])), Damage::Unreadable("tls.crt")),
        ("tls.crt", Some(text("garbage")), Damage::Unreadable("tls.crt")),
        ("tls.key", Some(text("garbage")), Damage::Unreadable("tls.key")),
        (
            "tls.key",
            Some(other["tls.key"].clone()),
            Damage::Mismatched { key: "tls.key", certificate: "tls.crt" },
        ),
        (
            "ca.key",
            Some(other["ca.key"].clone()),
            Damage::Mismatched { key: "ca.key", certificate: "ca.crt" },
        ),
    ] {
        let mut damaged = data.clone();
        damaged.remove(name);
        damaged.extend(value.map(|value| (name.to_owned(), value)));
        for before in [None, Some(&data)] {
            let known = Known { secret: Some(&damaged), before, published: None };
            let (repaired, reasons) = decided(known, DAY);
            assert!(reasons.contains(&Reason::Damaged(expected.clone())), "{reasons:?}");
            if before.is_some() {
                assert_eq!(repaired["tls.crt"], data["tls.crt"], "{name} {reasons:?}");
                assert!(authorities(&repaired).contains(&authorities(&data)[0]));
            }
        }
    }
}

#[test]
fn a_mixture_of_two_secrets_is_replaced() {
    let (data, other) = (first(), first());
    let mut mixed = data.clone();
    for name in ["tls.crt", "tls.key"] {
        mixed.insert(name.to_owned(), other[name].clone());
    }
    let (repaired, reasons) = decided(settled(&mixed), DAY);
    assert_eq!(reasons[0], Reason::Unusable(CertificateError::Mismatched));
    assert_eq!(repaired["ca.crt"], data["ca.crt"]);
}

#[test]
fn no_reason_and_no_decision_quotes_a_key() {
    let data = first();
    let mut damaged = data.clone();
    damaged.insert("tls.crt".to_owned(), data["tls.key"].clone());
    damaged.insert("ca.crt".to_owned(), data["ca.key"].clone());
    let known = Known { secret: Some(&damaged), ..Known::default() };
    let decision = rotation().decide(known, at(DAY)).unwrap();
    let shown: Vec<String> = decision.reasons.iter().map(ToString::to_string).collect();
    let shown = format!("{decision:?} {shown:?}");
    for key in ["tls.key", "ca.key"] {
        let key = String::from_utf8(data[key].0.clone()).unwrap();
        assert!(!shown.contains(key.lines().nth(1).unwrap()), "{shown}");
    }
}
