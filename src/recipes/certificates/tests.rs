use std::time::{Duration, SystemTime};

use super::*;

const DAY: Duration = Duration::from_hours(24);

fn at(days: u32) -> SystemTime {
    SystemTime::UNIX_EPOCH + DAY * (20_000 + days)
}

fn authority() -> Authority {
    Authority::new("shop-ca", 3650 * DAY, at(0)).unwrap()
}

fn names() -> ServiceNames {
    ServiceNames::of("shop", "ns")
}

#[test]
fn both_are_kept_until_two_thirds_of_their_life_are_over() {
    let made = authority();
    let data = made.secret_data();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["ca.crt", "tls.crt", "tls.key"]);
    let kept = |days| Authority::kept_or_new(Some(&data), "shop-ca", 3650 * DAY, at(days)).unwrap();
    assert_eq!(kept(2400).secret_data(), data);
    assert_ne!(kept(2434).secret_data(), data);
    let serving = made.serving(None, &names(), 90 * DAY, at(0)).unwrap();
    let tls = serving.secret_data();
    assert_eq!(tls["ca.crt"], data["tls.crt"]);
    let again = |days| made.serving(Some(&tls), &names(), 90 * DAY, at(days)).unwrap();
    assert_eq!(again(59).secret_data(), tls);
    let renewed = again(60);
    assert_ne!(renewed.secret_data(), tls);
    let wait = renewed.wait(at(60));
    assert!(wait < 60 * DAY && wait > 59 * DAY, "{wait:?}");
    assert_eq!(serving.wait(at(61)), Duration::ZERO);
}

#[test]
fn a_certificate_without_a_name_or_of_another_authority_is_replaced() {
    let made = authority();
    let tls = made.serving(None, &names(), 90 * DAY, at(0)).unwrap().secret_data();
    let more = names().with_pods().with("shop.example.com").with("10.0.0.1");
    assert_eq!(more.names().len(), 9);
    let with_more = made.serving(Some(&tls), &more, 90 * DAY, at(1)).unwrap().secret_data();
    assert_ne!(with_more, tls);
    assert_eq!(
        made.serving(Some(&with_more), &more, 90 * DAY, at(2)).unwrap().secret_data(),
        with_more
    );
    // What it has beyond the names is no reason.
    assert_eq!(
        made.serving(Some(&with_more), &names(), 90 * DAY, at(2)).unwrap().secret_data(),
        with_more
    );
    let other = authority().serving(Some(&tls), &names(), 90 * DAY, at(1)).unwrap();
    assert_ne!(other.secret_data(), tls);
    let damaged = [("tls.crt".to_owned(), tls["tls.crt"].clone())].into();
    assert!(made.serving(Some(&damaged), &names(), 90 * DAY, at(1)).is_ok());
}

#[test]
fn a_certificate_ends_with_its_authority() {
    let short = Authority::new("a", 10 * DAY, at(0)).unwrap();
    let serving = short.serving(None, &names(), 90 * DAY, at(5)).unwrap();
    assert!(serving.wait(at(5)) < 4 * DAY);
    let late = short.serving(None, &names(), 90 * DAY, at(11)).unwrap_err();
    assert_eq!(late, CertificateError::NotValid);
    assert_eq!(Authority::new("a", Duration::ZERO, at(0)).unwrap_err(), CertificateError::NotValid);
}

#[test]
fn an_authority_that_cannot_be_read_or_is_of_two_parts_is_refused() {
    let [one, other] = [authority(), authority()].map(|it| it.secret_data());
    let kept = |data: &TlsData| Authority::kept_or_new(Some(data), "shop-ca", DAY, at(1));
    for (name, expected) in [("tls.crt", "tls.crt"), ("tls.key", "tls.key")] {
        let mut damaged = one.clone();
        damaged.remove(name);
        assert_eq!(kept(&damaged).unwrap_err(), CertificateError::Unreadable(expected));
    }
    let mut mixed = one.clone();
    mixed.insert("tls.key".to_owned(), other["tls.key"].clone());
    let error = kept(&mixed).unwrap().serving(None, &names(), DAY, at(1)).unwrap_err();
    assert_eq!(error, CertificateError::Mismatched);
}

#[test]
fn no_key_is_printed_and_names_are_checked() {
    let made = authority();
    let serving = made.serving(None, &names(), DAY, at(0)).unwrap();
    let shown = format!("{made:?} {serving:?}");
    assert_eq!(
        shown,
        "Authority(shop-ca until 2034-10-02T00:00:00Z) ServingCertificate(until 2024-10-05T00:00:00Z)"
    );
    let error = made.serving(None, &names().with("no host"), DAY, at(0)).unwrap_err();
    assert!(error.to_string().contains("no host") || matches!(error, CertificateError::Failed(_)));
}

#[test]
fn it_is_known_when_a_certificate_was_made() {
    for life in
        [Duration::from_secs(20), Duration::from_mins(50), Duration::from_hours(1), 90 * DAY]
    {
        let authority = Authority::new("a", life, at(0)).unwrap();
        let made = authority.pair().made_at().as_second();
        let now = i64::try_from(at(0).duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs());
        assert!((now.unwrap() - made).abs() <= 1, "{life:?}: {made}");
    }
}
