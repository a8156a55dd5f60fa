//! In which forms values are hidden.

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::*;

fn values(of: &Value) -> SecretValues {
    let mut values = SecretValues::default();
    values.add(of);
    values
}

#[test]
fn a_secret_is_hidden_in_whatever_form_a_text_quotes_it() {
    let secret = values(&json!("pass \"word\"?>1"));
    for (text, shown) in [
        ("pass \"word\"?>1", "(redacted)"),
        ("--password=pass \"word\"?>1 -v", "--password=(redacted) -v"),
        (r#"Invalid value: "pass \"word\"?>1""#, r#"Invalid value: "(redacted)""#),
        ("cGFzcyAid29yZCI/PjE=", "(redacted)"),
        ("key: cGFzcyAid29yZCI/PjE", "key: (redacted)"),
        ("?key=cGFzcyAid29yZCI_PjE", "?key=(redacted)"),
        ("a password", "a password"),
    ] {
        assert_eq!(secret.hidden(text), shown, "{text}");
    }
}

#[test]
fn a_short_secret_is_hidden_where_it_is_the_whole_text_or_quoted() {
    let secret = values(&json!("a"));
    for (text, shown) in [
        ("a", "(redacted)"),
        ("banana", "banana"),
        ("YQ==", "(redacted)"),
        ("a password", "a password"),
        ("password \"a\" is too short", "password \"(redacted)\" is too short"),
        (r#"{\"pin\":\"a\"}"#, r#"{\"pin\":\"(redacted)\"}"#),
        ("pin: a, size: 3", "pin: (redacted), size: 3"),
        ("?pin=a&b=ab", "?pin=(redacted)&b=ab"),
        ("'a' or `a`; app=apple", "'(redacted)' or `(redacted)`; app=apple"),
    ] {
        assert_eq!(secret.hidden(text), shown, "{text}");
    }
    assert_eq!(values(&json!("")).hidden(""), "", "an empty text is no secret");
}

#[test]
fn the_lines_of_a_secret_are_hidden_however_they_are_indented() {
    let secret = values(&json!("-----BEGIN KEY-----\nMIIEvQIBADAN\nBg==\n"));
    let file = "tls:\n  key: |\n    -----BEGIN KEY-----\n    MIIEvQIBADAN\n    Bg==\n";
    let shown = secret.hidden(file);
    assert!(!shown.contains("MIIE"), "{shown}");
}

#[test]
fn the_longest_secret_is_hidden_first_and_in_every_text_of_a_tree() {
    let secret = values(&json!(["abcd", "abcd-efgh", {"x": 123_456}]));
    let mut tree = json!({"a": ["abcd-efgh", "xabcd"], "b": {"c": "n=123456"}, "abcd": 1});
    secret.hide_in(&mut tree);
    let expected =
        json!({"a": ["(redacted)", "x(redacted)"], "b": {"c": "n=(redacted)"}, "abcd": 1});
    assert_eq!(tree, expected);
}

#[test]
fn with_too_many_secrets_every_text_is_hidden() {
    let many: Vec<String> = (0..MAX_FORMS).map(|number| format!("secret-{number}")).collect();
    let secret = values(&json!(many));
    let mut tree = json!({"a": "anything"});
    secret.hide_in(&mut tree);
    assert_eq!((tree, secret.is_empty()), (json!({"a": REDACTED}), false));
    assert!(!format!("{secret:?}").contains("secret-1"));
}

#[test]
fn a_secret_is_hidden_within_a_longer_text_in_base64_or_a_url() {
    let secret = values(&json!("p\u{e4}ss w&rd!"));
    let hide = |text: &str| secret.hidden(text).into_owned();
    for before in ["", "u", "us", "user:", "user:x"] {
        let text = format!("{before}p\u{e4}ss w&rd!@host");
        for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            assert_eq!(hide(&format!("Basic {encoded}")), "Basic (redacted)", "{text}");
            assert_eq!(hide(&format!("path/{encoded}, x")), "(redacted), x", "{text}");
        }
    }
    for (text, shown) in [
        ("get https://h/?p=p%C3%A4ss%20w%26rd%21&x=1 failed", "get (redacted) failed"),
        ("get https://h/?p=p%c3%a4ss+w%26rd! failed", "get (redacted) failed"),
        ("postgres://u:p%C3%A4ss%20w&rd%21@h/db", "(redacted)"),
        ("a%20b https://example.com/?a=b+c", "a%20b https://example.com/?a=b+c"),
    ] {
        assert_eq!(hide(text), shown);
    }
}

#[test]
fn a_secret_is_hidden_as_json_go_and_yaml_quote_it_once_and_twice() {
    let text = "it's <p\u{e4}ss> & \"word\"\nsecond line";
    let secret = values(&json!(text));
    let once = json!(text).to_string();
    let twice = json!(once).to_string();
    let for_html = once.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let in_ascii = once.replace('\u{e4}', "\\u00e4");
    let in_yaml = serde_yaml_ng::to_string(&json!({"a": {"b": text}})).unwrap();
    for quoted in [&once, &twice, &for_html, &in_ascii, &in_yaml] {
        let shown = secret.hidden(quoted).into_owned();
        assert!(!shown.contains("ss") && !shown.contains("second"), "{shown}");
    }
    let single = values(&json!("it's a password"));
    assert_eq!(single.hidden("p: 'it''s a password'"), "p: '(redacted)'");
}

#[test]
fn a_secret_that_ends_with_a_line_break_is_hidden_without_it() {
    let secret = values(&json!("s3cret\n"));
    assert_eq!(secret.hidden("wrong: s3cret."), "wrong: (redacted).");
    assert_eq!(secret.hidden("czNjcmV0"), "(redacted)");
    let lines = values(&json!("ab-1\ncd-2"));
    assert_eq!(lines.hidden("got: ab-1 cd-2!"), "got: (redacted)!", "on one line");
}

#[test]
fn the_values_of_a_secret_are_those_of_data_and_string_data() {
    let mut secret = SecretValues::default();
    secret.add_secret(&json!({
        "data": {"a": "czNjcmV0LW9uZQ==", "b": "no base64!", "c": "//79", "d": {"e": "czNjcmV0LWlu"}},
        "stringData": {"f": "s3cret-two", "g": 123_456},
    }));
    for value in [
        "s3cret-one",
        "czNjcmV0LW9uZQ==",
        "no base64!",
        "//79",
        "s3cret-in",
        "s3cret-two",
        "123456",
    ] {
        assert_eq!(secret.hidden(&format!("({value})")), "((redacted))");
    }
}

#[test]
fn secrets_within_an_object_are_hidden_also_in_a_copy_as_json() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "czNjcmV0"}});
    let hidden = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": REDACTED}});
    let mut tree = json!({"a": [secret], "b": secret.to_string(), "c": "Secret {", "d": "{}"});
    hide_secrets(&mut tree);
    assert_eq!(tree, json!({"a": [hidden], "b": REDACTED, "c": "Secret {", "d": "{}"}));
}
