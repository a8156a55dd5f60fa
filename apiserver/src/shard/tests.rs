use super::{selector::hash, *};

const LOW: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const HIGH: &str = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";
const NAMESPACE: &str =
    "shardRange(object.metadata.namespace, '0x00000000000000aa', '0x00000000000000ff')";

fn shown(text: &str) -> String {
    ShardSelector::parse(text).unwrap().to_string()
}

fn error(text: &str) -> String {
    ShardSelector::parse(text).unwrap_err().to_string()
}

/// What is wrong with a range whose start is this expression.
fn error_of_start(start: &str) -> String {
    error(&format!("shardRange(object.metadata.uid, {start}, '0x8000000000000000')"))
}

#[test]
fn hashes_are_those_of_the_real_server() {
    for (text, expected) in [
        ("", 0xcbf2_9ce4_8422_2325),
        ("a", 0xaf63_dc4c_8601_ec8c),
        ("é", 0x0ac2_1707_b718_1e01),
        ("uid-a", 0x8a6b_4025_215e_e3d3),
        ("default", 0xebad_a516_8620_c5fe),
        ("kube-system", 0xdf65_c7bc_1d82_b35e),
        ("0d9ae4b5-7e4c-4b2c-9f1c-3f1f0f3d2a10", 0xb014_6e95_f375_e593),
    ] {
        assert_eq!(hash(text), expected, "{text:?}");
    }
}

#[test]
fn a_range_has_its_start_and_not_its_end() {
    let chooses = |start: &str, end: &str| {
        let text = format!("shardRange(object.metadata.namespace, '{start}', '{end}')");
        ShardSelector::parse(&text).unwrap().chooses("uid-a", "default")
    };
    assert!(chooses("0xebada5168620c5fe", "0xebada5168620c5ff"));
    assert!(!chooses("0x0000000000000000", "0xebada5168620c5fe"));
    assert!(!chooses("0xebada5168620c5ff", "0x10000000000000000"));
}

#[test]
fn an_object_is_chosen_by_the_field_of_the_selector() {
    let [low, high] = [LOW, HIGH].map(|text| ShardSelector::parse(text).unwrap());
    assert!(!low.chooses("uid-a", "") && high.chooses("uid-a", ""));
    assert!(low.chooses("é", "default") && !high.chooses("é", "default"));
    let both = ShardSelector::parse(&format!("{HIGH} || {LOW}")).unwrap();
    assert!(both.chooses("uid-a", "") && both.chooses("é", ""));
    let of_nothing =
        "shardRange(object.metadata.namespace, '0xcbf29ce484222325', '0xcbf29ce484222326')";
    let of_nothing = ShardSelector::parse(of_nothing).unwrap();
    assert!(of_nothing.chooses("uid-a", "") && !of_nothing.chooses("", "default"));
}

#[test]
fn selectors_are_shown_in_one_form() {
    let (both, both_again) = (format!("{LOW} || {HIGH}"), format!("{LOW} || {HIGH} || {LOW}"));
    for (text, form) in [
        (LOW.to_owned(), LOW),
        (HIGH.to_owned(), HIGH),
        (NAMESPACE.to_owned(), NAMESPACE),
        (format!("\n {}\t", LOW.replace(' ', "")), LOW),
        (format!("\u{a0}{LOW} // low\u{a0}"), LOW),
        (format!("{LOW}||{HIGH}"), &both),
        (format!("({LOW}) || ({HIGH} || {LOW})"), &both_again),
        (LOW.replace('\'', "\""), LOW),
        (LOW.replace("'0x0", "r'0x0"), LOW),
        (LOW.replace("'0x0", r"'\x30\u00780"), LOW),
        (LOW.replace("metadata", "`metadata`"), LOW),
        // The real server passes over what a call is made on, and over an even number of negations.
        (format!("x.{LOW}"), LOW),
        (format!("!!{LOW}"), LOW),
        (format!("{}{LOW}{}", "(".repeat(50), ")".repeat(50)), LOW),
    ] {
        assert_eq!(shown(&text), form, "{text}");
    }
    assert_eq!(shown(&vec![LOW; 400].join("||")), vec![LOW; 400].join(" || "));
}

#[test]
fn what_is_no_range_is_named_as_by_the_real_server() {
    let only = "only shardRange() and || are allowed";
    let call = "expected shardRange() call or || operator";
    let path = "shardRange() first argument: expected field path (e.g. object.metadata.uid)";
    let paths = "supported: object.metadata.uid, object.metadata.namespace";
    for (text, why) in [
        (
            " \n".to_owned(),
            "empty shard selector is not allowed; omit the parameter for unfiltered lists"
                .to_owned(),
        ),
        (format!("{LOW} && {HIGH}"), format!("unsupported function \"_&&_\"; {only}")),
        (format!("!{LOW}"), format!("unsupported function \"!_\"; {only}")),
        (format!(".{LOW}"), format!("unsupported function \".shardRange\"; {only}")),
        ("a in b".to_owned(), format!("unsupported function \"@in\"; {only}")),
        ("has(a.b)".to_owned(), format!("unsupported function \"has\"; {only}")),
        ("a.all(b, c)".to_owned(), format!("unsupported function \"all\"; {only}")),
        ("f() || g()".to_owned(), format!("unsupported function \"f\"; {only}")),
        (format!("{LOW} || x"), format!("unexpected expression kind 3; {call}")),
        ("x.y".to_owned(), format!("unexpected expression kind 7; {call}")),
        ("'a'".to_owned(), format!("unexpected expression kind 5; {call}")),
        ("[]".to_owned(), format!("unexpected expression kind 4; {call}")),
        ("{}".to_owned(), format!("unexpected expression kind 6; {call}")),
        ("a.B{}".to_owned(), format!("unexpected expression kind 8; {call}")),
        ("shardRange()".to_owned(), "shardRange() requires exactly 3 arguments, got 0".to_owned()),
        ("shardRange('a', 1, 2)".to_owned(), format!("{path}, got expression kind 5")),
        ("shardRange(a['b'], 1, 2)".to_owned(), format!("{path}, got expression kind 1")),
        (
            "shardRange(metadata.uid, 1, 2)".to_owned(),
            format!("unsupported field path \"metadata.uid\"; {paths}"),
        ),
        (
            format!("{LOW} || {NAMESPACE}"),
            "all shard ranges must use the same field, got \"object.metadata.uid\" and \
             \"object.metadata.namespace\""
                .to_owned(),
        ),
    ] {
        assert_eq!(error(&text), why, "{text}");
    }
}

#[test]
fn a_bound_is_a_text_of_16_digits() {
    for (start, why) in [
        ("x", "hexStart must be a string literal (e.g. '0xff'), got expression kind 3"),
        ("f(1)", "hexStart must be a string literal (e.g. '0xff'), got expression kind 1"),
        ("0", "hexStart must be a string literal, got int64"),
        ("0u", "hexStart must be a string literal, got uint64"),
        ("1.5", "hexStart must be a string literal, got float64"),
        ("true", "hexStart must be a string literal, got bool"),
        ("null", "hexStart must be a string literal, got structpb.NullValue"),
        ("b'0x0'", "hexStart must be a string literal, got []uint8"),
        ("'0'", r#"hexStart must have '0x' prefix, got "0""#),
        ("'0X0'", r#"hexStart must have '0x' prefix, got "0X0""#),
        ("'0x'", "hexStart: hex value is required after '0x'"),
        (
            "'0x0'",
            r#"hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)"#,
        ),
        ("'0xA'", r#"hexStart: invalid hex character "A" in "0xA""#),
        ("'0xé'", r#"hexStart: invalid hex character "é" in "0xé""#),
        ("'0x+000000000000000'", r#"hexStart: invalid hex character "+" in "0x+000000000000000""#),
        ("'0x\"'", r#"hexStart: invalid hex character "\"" in "0x\"""#),
        (
            "'0x10000000000000001'",
            r#"hexStart: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x10000000000000001""#,
        ),
        (
            "'0x000000000000000000'",
            r#"hexStart: hex value too long (18 chars, max 17): "000000000000000000""#,
        ),
        (
            "'0x8000000000000000'",
            "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
        ),
        (
            "'0x10000000000000000'",
            "shard range start 0x10000000000000000 must be less than end 0x8000000000000000",
        ),
    ] {
        assert_eq!(error_of_start(start), why, "{start}");
    }
    let end = error(&LOW.replace("'0x8000000000000000'", "'0x8'"));
    assert!(end.starts_with("hexEnd must be a 0x-prefixed"), "{end}");
}

#[test]
fn errors_of_the_syntax_are_those_of_the_real_parser() {
    for (text, why) in [
        (format!("{LOW}, {HIGH}"), "Syntax error: mismatched input ',' expecting <EOF>"),
        (format!("{LOW} {HIGH}"), "Syntax error: mismatched input 'shardRange' expecting <EOF>"),
        (format!("{LOW} | {HIGH}"), "Syntax error: token recognition error at: '| '"),
        (LOW.replace('\'', ""), "invalid int literal"),
        (
            LOW.replace("id, ", "id "),
            "Syntax error: mismatched input ''0x0000000000000000'' expecting ')'",
        ),
        ("a b".to_owned(), "Syntax error: extraneous input 'b' expecting <EOF>"),
        ("a b '".to_owned(), "Syntax error: token recognition error at: '''"),
        ("[a, b ? c".to_owned(), "Syntax error: mismatched input '<EOF>' expecting ':'"),
        ("{a : b".to_owned(), "Syntax error: mismatched input '<EOF>' expecting {'}', ','}"),
        ("{a".to_owned(), "Syntax error: mismatched input '<EOF>' expecting ':'"),
        ("a.?b".to_owned(), "unsupported syntax '.?'"),
        ("namespace".to_owned(), "reserved identifier: namespace"),
        ("namespace || 'a".to_owned(), "Syntax error: token recognition error at: ''a'"),
        ("(".repeat(300), "expression recursion limit exceeded: 250"),
    ] {
        assert_eq!(error(&text), format!("CEL parse error: {why}"), "{text}");
    }
    let long = error(&"x".repeat(100_001));
    let limit = "expression code point size exceeds limit: size: 100001, limit 100000";
    assert_eq!(long, format!("CEL parse error: {limit}"));
}

#[test]
fn any_text_is_a_shard_selector_or_refused() {
    const TOKENS: [&str; 22] = [
        LOW,
        NAMESPACE,
        "shardRange(",
        "object.metadata.uid",
        "'0x0000000000000000'",
        "'0x10000000000000000'",
        "'0x",
        ",",
        "(",
        ")",
        "[",
        "{",
        "?",
        ":",
        "||",
        " || ",
        "&&",
        "'",
        "\"",
        "!",
        "\n",
        "é",
    ];
    let parser = |text: &str| match ShardSelector::parse(text) {
        Ok(selector) => {
            assert!(selector.ranges.len() <= text.len());
            assert_eq!(ShardSelector::parse(&selector.to_string()), Ok(selector));
        }
        Err(error) => assert!(error.to_string().len() <= 8 * text.len() + 400, "{error}"),
    };
    operetta_harness::random::texts(&TOKENS, parser);
    operetta_harness::random::long_texts(&TOKENS, parser);
}
