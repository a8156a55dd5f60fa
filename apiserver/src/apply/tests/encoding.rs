//! `FieldsV1` and back.

use serde_json::{Value, json};

use super::super::{
    field_set::FieldSet,
    fields_v1::{decode, encode},
    json_order::Ordered,
    path_element::PathElement,
};

#[test]
fn each_kind_of_path_element_has_its_prefix() {
    let mut set = FieldSet::default();
    let key = [("port".into(), Ordered(json!(80))), ("a".into(), Ordered(json!("<x>")))];
    for element in [
        PathElement::field("spec"),
        PathElement::key(key.into()),
        PathElement::Value(Ordered(json!("v"))),
        PathElement::Value(Ordered(json!(1.0))),
        PathElement::Index(3),
    ] {
        set.insert(&[element]);
    }
    let expected = json!({
        "f:spec": {}, "k:{\"a\":\"\\u003cx\\u003e\",\"port\":80}": {}, "v:\"v\"": {}, "v:1": {},
        "i:3": {},
    });
    assert_eq!(encode(&set), expected);
}

#[test]
fn a_container_that_is_owned_itself_has_a_dot() {
    let mut set = FieldSet::default();
    set.insert(&[PathElement::field("a"), PathElement::field("b")]);
    assert_eq!(encode(&set), json!({"f:a": {"f:b": {}}}));
    set.insert(&[PathElement::field("a")]);
    assert_eq!(encode(&set), json!({"f:a": {".": {}, "f:b": {}}}));
}

#[test]
fn keys_may_come_in_any_order_and_numbers_in_any_form() {
    let one = decode(&json!({r#"k:{"b":1,"a":"x"}"#: {}})).expect("valid");
    let other = decode(&json!({r#"k:{"a":"x","b":1.0}"#: {}})).expect("valid");
    assert_eq!(one, other);
}

#[test]
fn elements_of_a_later_kind_are_ignored() {
    let set = decode(&json!({"x:later": {"f:a": {}}, "f:b": {"y:later": {}}})).expect("valid");
    assert_eq!(encode(&set), json!({"f:b": {}}));
}

#[test]
fn what_is_no_path_element_is_an_error() {
    for fields in [
        json!({"": {}}),
        json!({"f": {}}),
        json!({"no-colon": {}}),
        json!({"i:1.5": {}}),
        json!({"v:": {}}),
        json!({"k:nonsense": {}}),
        json!({"f:a": "text"}),
        json!([]),
    ] {
        assert!(decode(&fields).is_err(), "{fields}");
    }
}

#[test]
fn decoding_an_encoded_set_gives_the_set() {
    for seed in 1..500 {
        let set = random_set(seed);
        assert_eq!(decode(&encode(&set)).expect("our own encoding"), set, "seed {seed}");
    }
}

#[test]
fn sets_obey_the_laws_of_sets() {
    for seed in 1..300 {
        let (a, b) = (random_set(seed), random_set(seed + 7919));
        assert_eq!(a.union(&b), b.union(&a), "seed {seed}");
        assert_eq!(a.intersection(&b), b.intersection(&a), "seed {seed}");
        let apart = a.difference(&b).union(&b.difference(&a)).union(&a.intersection(&b));
        assert_eq!(apart, a.union(&b), "seed {seed}");
        assert_eq!(a.difference(&a), FieldSet::default());
        let both = a.intersection(&b);
        assert!(
            a.union(&b)
                .paths()
                .iter()
                .all(|p| { both.contains(p) == (a.contains(p) && b.contains(p)) })
        );
    }
}

#[test]
fn a_recursive_difference_takes_all_below_a_member() {
    let set = decode(&json!({"f:a": {".": {}, "f:b": {"f:c": {}}}, "f:d": {"f:e": {}}}));
    let (set, taken) = (set.expect("valid"), decode(&json!({"f:a": {}})).expect("valid"));
    assert_eq!(encode(&set.recursive_difference(&taken)), json!({"f:d": {"f:e": {}}}));
    let left = encode(&set.difference(&taken));
    assert_eq!(left, json!({"f:a": {"f:b": {"f:c": {}}}, "f:d": {"f:e": {}}}));
}

/// A set of up to 30 paths over few names, so that sets overlap.
fn random_set(seed: u64) -> FieldSet {
    let mut random = Random(seed);
    let mut set = FieldSet::default();
    for _ in 0..random.below(30) {
        let length = 1 + random.below(4);
        let path: Vec<_> = (0..length).map(|_| random.element()).collect();
        set.insert(&path);
    }
    set
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn element(&mut self) -> PathElement {
        let scalar = self.scalar();
        match self.below(4) {
            0 | 1 => PathElement::field(&format!("f{}", self.below(3))),
            2 => PathElement::key(vec![("name".into(), Ordered(scalar))]),
            _ if self.below(2) == 0 => {
                PathElement::Index(i64::try_from(self.below(3)).unwrap_or(0))
            }
            _ => PathElement::Value(Ordered(scalar)),
        }
    }

    fn scalar(&mut self) -> Value {
        match self.below(5) {
            0 => json!("a\"b\\c"),
            1 => json!("<ü&>"),
            2 => json!(self.below(3)),
            3 => json!(1.5),
            _ => json!(true),
        }
    }
}

#[test]
fn any_text_is_an_element_or_refused() {
    const TOKENS: [&str; 18] = [
        "f:",
        "k:",
        "v:",
        "i:",
        "x:",
        ".",
        "{",
        "}",
        "\"a\"",
        ":",
        "1",
        "null",
        "[",
        "]",
        ",",
        "-1",
        "9223372036854775808",
        "a",
    ];
    let parser = |text: &str| {
        if let Ok(Some(element)) = PathElement::decode(text) {
            assert!(element.encode().len() <= 8 * text.len() + 8);
        }
        let _ = decode(&json!({ text: { text: {}, ".": {} } }));
        let _ = serde_json::from_str(text).map(|fields: Value| decode(&fields));
    };
    operetta_harness::random::texts(&TOKENS, parser);
}
