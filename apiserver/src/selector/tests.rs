use std::collections::BTreeMap;

use super::*;

fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
    let labels: BTreeMap<_, _> = labels.iter().copied().collect();
    LabelSelector::parse(selector).unwrap().matches(|key| labels.get(key).copied())
}

fn label_error(selector: &str) -> String {
    LabelSelector::parse(selector).unwrap_err().to_string()
}

fn field_error(selector: &str) -> String {
    FieldSelector::parse(selector).unwrap_err().to_string()
}

#[test]
fn every_operator_selects_the_matching_labels() {
    for (selector, labels, expected) in [
        ("", &[][..], true),
        ("a=b", &[("a", "b")], true),
        ("a==b", &[("a", "c")], false),
        ("a=", &[("a", "")], true),
        ("a=", &[], false),
        ("a!=b", &[], true),
        ("a!=b", &[("a", "b")], false),
        ("a in (b,c)", &[("a", "c")], true),
        ("a in (b,c)", &[], false),
        ("a in ()", &[("a", "")], true),
        ("a in (b,)", &[("a", "")], true),
        ("a notin (b,c)", &[("a", "c")], false),
        ("a notin (b,c)", &[], true),
        ("a", &[("a", "")], true),
        ("a", &[], false),
        ("!a", &[], true),
        ("!a", &[("a", "")], false),
        ("a>1", &[("a", "2")], true),
        ("a<1", &[("a", "2")], false),
        ("a>1", &[("a", "x")], false),
        ("a=b,c!=d,e in (x,y),!h", &[("a", "b"), ("e", "y")], true),
        ("a=b,c!=d,e in (x,y),!h", &[("a", "b"), ("e", "y"), ("h", "")], false),
        ("in=in,notin in (in,notin)", &[("in", "in"), ("notin", "in")], true),
        (" a = b , example.com/c == d\t", &[("a", "b"), ("example.com/c", "d")], true),
    ] {
        assert_eq!(matches(selector, labels), expected, "{selector} {labels:?}");
    }
}

#[test]
fn a_selector_is_printed_sorted_and_parses_again() {
    for (selector, printed) in [
        ("b,a=1,!c", "a=1,b,!c"),
        ("x in (b,a),y notin (c)", "x in (a,b),y notin (c)"),
        ("a==b", "a=b"),
        ("a>1,b<2,c!=", "a>1,b<2,c!="),
    ] {
        let parsed = LabelSelector::parse(selector).unwrap();
        assert_eq!(parsed.to_string(), printed);
        assert_eq!(LabelSelector::parse(printed).unwrap(), parsed);
    }
}

#[test]
fn errors_have_the_messages_of_kube_apiserver() {
    for (selector, error) in [
        ("a,", "found '', expected: identifier after ','"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a=(", "unable to parse requirement: found '(', expected: identifier"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        (
            "a>x",
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' \
             operators, the value must be an integer",
        ),
    ] {
        assert_eq!(label_error(selector), error, "{selector}");
    }
    assert!(label_error("a b/c=d").starts_with("unable to parse requirement: found 'b/c'"));
    assert!(label_error("ä=b").starts_with(
        "unable to parse requirement: <nil>: Invalid value: \"ä\": name part must consist of"
    ));
    assert!(label_error("a=b/c").starts_with(
        "unable to parse requirement: values[0][a]: Invalid value: \"b/c\": a valid label must be"
    ));
}

#[test]
fn malformed_selectors_cause_no_panic() {
    let long = "a,".repeat(100_000);
    for selector in
        ["\0", "a\0=b", "((((", "!!!!a", "a in ((", "=", "><", "\u{202e}", "a in (,,,", &long]
    {
        let _ = LabelSelector::parse(selector);
        let _ = FieldSelector::parse(selector);
    }
}

#[test]
fn labels_may_be_given_as_json() {
    let selector = LabelSelector::parse("a=b,!c").unwrap();
    assert!(selector.matches_json(Some(&serde_json::json!({"a": "b"}))));
    for labels in [serde_json::json!({"a": 1}), serde_json::json!([]), serde_json::Value::Null] {
        assert!(!selector.matches_json(Some(&labels)));
    }
    assert!(!selector.matches_json(None));
}

#[test]
fn absent_fields_are_compared_as_empty() {
    for (selector, expected) in [
        ("", true),
        ("metadata.name=x", true),
        ("metadata.name==x,metadata.namespace!=y", true),
        ("metadata.name!=x", false),
        ("spec.nodeName=", true),
        ("spec.nodeName!=", false),
        (",metadata.name=x,", true),
    ] {
        let get = |field: &str| (field == "metadata.name").then_some("x");
        assert_eq!(FieldSelector::parse(selector).unwrap().matches(get), expected, "{selector}");
    }
}

#[test]
fn values_of_fields_may_be_escaped() {
    let selector = FieldSelector::parse(r"a=b\,c\=d\\,e!=f").unwrap();
    assert_eq!(selector.exact("a"), Some(r"b,c=d\"));
    assert_eq!(selector.exact("e"), None);
    assert_eq!(selector.fields().collect::<Vec<_>>(), ["a", "e"]);
    assert_eq!(selector.to_string(), r"a=b\,c\=d\\,e!=f");
    assert_eq!(FieldSelector::parse(&selector.to_string()).unwrap(), selector);
}

#[test]
fn a_field_ends_where_an_operator_begins() {
    for (selector, same) in
        [("a!!=b", "a!!=b"), ("a!b=c", "a!b=c"), ("a==b", "a=b"), ("=,!=,==", "")]
    {
        assert_eq!(FieldSelector::parse(selector).unwrap().to_string(), same, "{selector}");
    }
    let not = FieldSelector::parse("a!!=b").unwrap();
    assert_eq!(not.requirements()[0].operator, FieldOperator::NotEquals);
}

#[test]
fn errors_of_field_selectors_have_the_messages_of_kube_apiserver() {
    assert_eq!(field_error("abc"), "invalid selector: 'abc'; can't understand 'abc'");
    assert_eq!(field_error("b=c,abc"), "invalid selector: 'b=c,abc'; can't understand 'abc'");
    assert_eq!(field_error("a=b=c"), "invalid field selector: unescaped character in value: 61");
    assert_eq!(field_error(r"a=\x"), r"invalid field selector: invalid escape sequence: \x");
    assert_eq!(field_error("a=\\"), r"invalid field selector: invalid escape sequence: \");
}

#[test]
fn an_unsupported_field_is_named() {
    let known = ["metadata.name", "metadata.namespace"];
    let selector = FieldSelector::parse("a=b,metadata.name=x").unwrap();
    assert_eq!(
        selector.check_fields(&known).unwrap_err().to_string(),
        r#""a" is not a known field selector: only "metadata.name", "metadata.namespace""#
    );
    assert!(FieldSelector::parse("metadata.name!=x").unwrap().check_fields(&known).is_ok());
}

#[test]
fn any_text_is_a_label_selector_or_refused() {
    const TOKENS: [&str; 20] = [
        "a", "b/c", "in", "notin", " in (", " notin (", "(", ")", ",", "=", "==", "!=", "!", ">",
        "<", " ", "1", "\t", "-", "a=b",
    ];
    let parser = |text: &str| {
        if let Ok(selector) = LabelSelector::parse(text) {
            assert!(selector.requirements().len() <= text.len());
            assert!(selector.to_string().len() <= 2 * text.len() + 8);
        }
    };
    operetta_harness::random::texts(&TOKENS, parser);
    operetta_harness::random::long_texts(&TOKENS, parser);
}

#[test]
fn any_text_is_a_field_selector_or_refused() {
    const TOKENS: [&str; 12] =
        ["metadata.name", "a", "=", "==", "!=", "!", ",", r"\", r"\,", r"\=", ".", " "];
    let parser = |text: &str| {
        if let Ok(selector) = FieldSelector::parse(text) {
            let again = FieldSelector::parse(&selector.to_string()).unwrap();
            assert_eq!(again.requirements().len(), selector.requirements().len());
        }
    };
    operetta_harness::random::texts(&TOKENS, parser);
    operetta_harness::random::long_texts(&TOKENS, parser);
}
