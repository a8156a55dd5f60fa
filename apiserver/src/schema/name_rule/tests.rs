use super::*;

#[test]
fn valid_names_have_no_errors() {
    for name in ["a", "a-b", "a.b-c.d", "0", &"a".repeat(253)] {
        assert_eq!(dns_subdomain(name, false), Vec::<String>::new(), "{name}");
    }
    for key in ["a", "A_b.c-d", "example.com/Name", &format!("a/{}", "x".repeat(63))] {
        assert_eq!(label_key(key), Vec::<String>::new(), "{key}");
    }
    for value in ["", "a", "A_b.c-9"] {
        assert_eq!(label_value(value), Vec::<String>::new(), "{value}");
    }
}

#[test]
fn an_invalid_name_has_the_message_of_kube_apiserver() {
    let error = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                 characters, '-' or '.', and must start and end with an alphanumeric character \
                 (e.g. 'example.com', regex used for validation is \
                 '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    for name in ["", "A", "-a", "a-", "a..b", "a_b", "a\0", "ä", ".", "a b", "a/b"] {
        assert_eq!(dns_subdomain(name, false), [error], "{name:?}");
    }
    assert_eq!(
        dns_subdomain(&"A".repeat(254), false),
        ["must be no more than 253 characters", error]
    );
}

#[test]
fn a_label_must_not_contain_dots() {
    assert_eq!(dns_label("a.b", false), ["must not contain dots"]);
    assert_eq!(
        dns_label("A", false),
        ["a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
          and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', \
          regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"]
    );
}

#[test]
fn the_name_of_a_service_starts_with_a_letter() {
    assert!(dns_1035_label("a1", false).is_empty());
    assert!(dns_1035_label("1a", false)[0].starts_with("a DNS-1035 label must consist of"));
}

#[test]
fn a_prefix_may_end_in_a_hyphen() {
    assert!(dns_subdomain("web-", true).is_empty());
    assert!(dns_subdomain(&format!("{}-", "a".repeat(253)), true).is_empty());
    assert!(!dns_subdomain("-", true).is_empty());
    assert!(!dns_subdomain("web-", false).is_empty());
}

#[test]
fn a_name_that_only_has_to_fit_into_a_path_may_be_almost_anything() {
    assert!(path_segment("system:Node \0", false).is_empty());
    assert_eq!(path_segment("..", false), ["may not be '..'"]);
    assert_eq!(path_segment("a/b%", false), ["may not contain '/'", "may not contain '%'"]);
    assert!(path_segment(".", true).is_empty());
}

#[test]
fn each_part_of_a_label_key_is_explained() {
    let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must \
                start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
                '123-abc', regex used for validation is \
                '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    assert_eq!(label_key(""), ["name part must be non-empty", name]);
    assert_eq!(label_key("/a"), ["prefix part must be non-empty"]);
    assert_eq!(label_key("a/"), ["name part must be non-empty", name]);
    assert_eq!(label_key(&"a".repeat(64)), ["name part must be no more than 63 bytes"]);
    assert!(label_key("A/b")[0].starts_with("prefix part a lowercase RFC 1123 subdomain must"));
    assert!(label_key("a/b/c")[0].starts_with("a valid label key must consist of"));
    assert!(label_key("a/b/c")[0].ends_with("'/' (e.g. 'example.com/MyName')"));
}

#[test]
fn a_bad_label_value_is_explained() {
    for value in ["a b", "-", "\0", "ä", "a/b"] {
        assert_eq!(
            label_value(value),
            ["a valid label must be an empty string or consist of alphanumeric characters, '-', \
              '_' or '.', and must start and end with an alphanumeric character (e.g. \
              'MyValue',  or 'my_value',  or '12345', regex used for validation is \
              '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"]
        );
    }
    assert_eq!(label_value(&"a".repeat(64)), ["must be no more than 63 bytes"]);
}

#[test]
fn any_text_is_a_name_or_told_why_it_is_none() {
    const TOKENS: [&str; 12] =
        ["a", "A", "0", "-", ".", "/", "_", "example.com/", "%", "..", " ", "é"];
    let parser = |text: &str| {
        for errors in [
            dns_label(text, false),
            dns_label(text, true),
            dns_subdomain(text, false),
            dns_1035_label(text, true),
            label_key(text),
            label_value(text),
            path_segment(text, false),
        ] {
            assert!(errors.len() <= 8);
        }
    };
    operetta_harness::random::texts(&TOKENS, parser);
    operetta_harness::random::long_texts(&TOKENS, parser);
}
