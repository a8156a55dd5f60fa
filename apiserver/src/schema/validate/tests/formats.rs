//! Formats and patterns, with their meaning in Go.

use serde_json::json;

use super::*;

#[test]
fn numbers_must_be_within_the_range_of_their_format() {
    let int32 = json!({"type": "integer", "format": "int32"});
    let message = "<nil>: Invalid value: \"\": Checked value must be of type integer with format \
                   int32 in spec.f";
    assert_eq!(wrong(&int32, json!(2_147_483_648_i64)), [message]);
    assert_eq!(wrong(&int32, json!(-2_147_483_649_i64)), [message]);
    assert!(wrong(&int32, json!(i32::MIN)).is_empty());
    let not_int32 =
        r#"spec.f: Invalid value: "float64": spec.f in body must be of type int32: "float64""#;
    assert_eq!(sorted(wrong(&int32, json!(1.5))), [message, not_int32]);
    let message = "<nil>: Invalid value: \"\": Checked value must be of type integer (default \
                   format) in spec.f";
    let not_integer =
        r#"spec.f: Invalid value: "number": spec.f in body must be of type integer: "number""#;
    for value in [json!(1.5), json!(u64::MAX), json!(1e300)] {
        assert_eq!(sorted(wrong(&json!({"type": "integer"}), value)), [message, not_integer]);
    }
    let float = json!({"type": "number", "format": "float"});
    assert!(wrong(&float, json!(1e39))[0].contains("type number with format float"));
    assert!(wrong(&float, json!(1e38)).is_empty());
}

#[test]
fn formats_are_validated_as_by_kube_apiserver() {
    for (format, good, bad) in [
        ("date-time", "2026-01-31T23:59:59.5+02:00", "2026-02-30T00:00:00Z"),
        ("date-time", "2026-01-31t23:59:59z", "2026-01-31"),
        ("date", "2024-02-29", "2023-02-29"),
        ("duration", "1h30m", "now"),
        ("duration", "3 days", "soon"),
        ("ipv4", "10.0.0.1", "10.0.0"),
        ("ipv6", "::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
        ("mac", "00:00:5e:00:53:01", "00:00:5e"),
        ("uuid", "123e4567-E89b-12d3-a456-426614174000", "123e4567"),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("byte", "aGVsbG8=", "aGVsbG8"),
        ("uri", "https://example.com/a%20b", "example.com"),
        ("email", "a.b@example.com", "a b"),
        ("hostname", "a.example.com", "-a"),
        ("hostname", "a-b", "a.b"),
        ("hexcolor", "#ffAA00", "#ffA"[..2].into()),
        ("k8s-short-name", "a-b", "a.b"),
    ] {
        let field = json!({"type": "string", "format": format});
        assert!(wrong(&field, json!(good)).is_empty(), "{format} {good}");
        let text = go_value_of(bad);
        assert_eq!(
            wrong(&field, json!(bad)),
            [format!(
                "spec.f: Invalid value: {text}: spec.f in body must be of type {format}: {text}"
            )]
        );
    }
    assert!(wrong(&json!({"type": "string", "format": "made-up"}), json!("\0")).is_empty());
}

fn go_value_of(text: &str) -> String {
    crate::schema::go_value::quote(text)
}

#[test]
fn the_error_about_a_wrong_type_names_the_format() {
    let field = json!({"type": "string", "format": "date-time"});
    assert_eq!(
        wrong(&field, json!(5)),
        [r#"spec.f: Invalid value: "int64": spec.f in body must be of type date-time: "int64""#]
    );
    assert_eq!(
        wrong(&field, json!(true)),
        [r#"spec.f: Invalid value: "": spec.f in body must be of type date-time: """#]
    );
}

#[test]
fn an_invalid_pattern_is_refused_with_its_path() {
    let schema = Schema::from_open_api(&json!({"properties": {"a": {"pattern": "("}}}));
    let error = Validator::new(schema).unwrap_err().to_string();
    assert!(error.contains("properties[a]"), "{error}");
}

#[test]
fn patterns_of_go_keep_their_meaning() {
    for (pattern, good, bad) in [
        ("(?i)^abc$", "ABC", "abd"),
        (r"^\d+$", "12", "٣"),
        (r"^\w+$", "a_1", "ä"),
        (r"\Aab\z", "ab", "Aabz"),
        (r"^[[:alpha:]]+$", "ab", "1"),
        (r"^\pL+$", "äb", "1"),
        (r"^\s$", " ", "\u{a0}"),
        (r"^[[a&&b~~]+$", "[&~", "c"),
        (r"^[]a]+$", "]a", "["),
        (r"^[^\d\]]+$", "a", "1"),
        (r"\bfoo\b", "a foo", "afoo"),
        (r"^\Qa.b\E+$", "a.bb", "axb"),
        (r"^(?P<n>a)(?P<n>b)$", "ab", "aa"),
        (r"^a{,2}$", "a{,2}", "aa"),
        (r"^\p{Greek}{2}$", "αβ", "ab"),
        (r"^\<a\/b-\_$", "<a/b-_", "a/b"),
    ] {
        let field = json!({"type": "string", "pattern": pattern});
        assert!(wrong(&field, json!(good)).is_empty(), "{pattern} {good}");
        assert!(!wrong(&field, json!(bad)).is_empty(), "{pattern} {bad}");
    }
}

#[test]
fn any_text_has_a_format_or_not() {
    const TOKENS: [&str; 32] = [
        "1",
        "h",
        "ms",
        "µs",
        "days",
        "-",
        "+",
        ".",
        ":",
        "/",
        "=",
        "A",
        "#",
        "fff",
        "10.0.0.1",
        "::",
        "/24",
        "2024-02-29",
        "T",
        "10:00:00",
        "Z",
        "+01:00",
        "@",
        "<",
        ">",
        "a",
        "%",
        "\"",
        "550e8400",
        "00",
        " ",
        "é",
    ];
    const FORMATS: [&str; 20] = [
        "byte",
        "cidr",
        "date",
        "date-time",
        "datetime",
        "duration",
        "hexcolor",
        "hostname",
        "ipv4",
        "ipv6",
        "k8s-long-name",
        "k8s-short-name",
        "mac",
        "password",
        "uri",
        "uuid",
        "uuid3",
        "uuid4",
        "uuid5",
        "email",
    ];
    let parser = |text: &str| {
        for format in FORMATS {
            let _ = has_format(format, text);
        }
    };
    operetta_harness::random::texts(&TOKENS, parser);
    operetta_harness::random::long_texts(&TOKENS, parser);
}

#[test]
fn any_text_is_a_pattern_or_refused() {
    const TOKENS: [&str; 26] = [
        "a",
        "(",
        ")",
        "[",
        "]",
        "^",
        "$",
        "*",
        "+",
        "?",
        "{2}",
        "{1000}",
        "|",
        ".",
        "\\",
        "\\d",
        "\\pL",
        "\\b",
        "[:alpha:]",
        "(?i)",
        "(?:",
        "-",
        "&&",
        "~",
        "(?P<n>",
        "{0,",
    ];
    operetta_harness::random::some_texts(10, &TOKENS, |pattern| {
        if let Ok(regex) = compile_pattern(pattern) {
            let _ = regex.is_match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
        }
    });
}
