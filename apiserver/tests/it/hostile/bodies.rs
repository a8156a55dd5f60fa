//! Hostile bodies: deep, dense, repeated, multiplied, broken.

use super::{Attempt, CONFIG_MAPS};

/// The media types of patches and objects.
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
/// Where objects that keep undeclared fields are.
const THINGS: &str = "/apis/hostile.example.com/v1/namespaces/default/things";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// As much as a body may have.
const MOST: usize = 3 << 20;

type Make = fn() -> String;

/// Values that are larger as trees than as texts, or deeper than what recursion bears.
const VALUES: &[(&str, Make)] = &[
    ("lists 90 deep", || nested("[", "]", 90)),
    ("lists 127 deep", || nested("[", "]", 127)),
    ("lists a million deep", || nested("[", "]", 1_000_000)),
    ("maps 90 deep", || nested(r#"{"a":"#, "}", 90)),
    ("maps 127 deep", || nested(r#"{"a":"#, "}", 127)),
    ("maps 400,000 deep", || nested(r#"{"":"#, "}", 400_000)),
    ("unclosed lists", || "[".repeat(MOST - 200)),
    ("unclosed maps", || r#"{"":"#.repeat(700_000)),
    ("tiny maps", || list(r#"{"":0}"#)),
    ("tiny nested maps", || list(r#"{"":{"":{}}}"#)),
    ("tiny lists", || list("[0]")),
    ("empty maps", || list("{}")),
    ("empty lists", || list("[]")),
    ("empty texts", || list("\"\"")),
    ("numbers", || list("0")),
    ("nulls", || list("null")),
    ("long numbers", || list("1234567890.12345678901234567890")),
    ("one endless number", || "9".repeat(MOST - 200)),
    ("a huge exponent", || "1e999999999".to_owned()),
    ("escapes", || format!("\"{}\"", r"\u0000".repeat(400_000))),
    ("lone surrogates", || format!("\"{}\"", r"\ud800".repeat(400_000))),
    ("many members", || format!("{{{}}}", joined(60_000, |at| format!(r#""{at}":"""#)))),
    ("one member very often", || format!("{{{}}}", joined(100_000, |_| r#""a":"b""#.to_owned()))),
];

/// Metadata that is indexed, or compared in pairs.
const METADATA: &[(&str, Make)] = &[
    ("labels", || format!(r#""labels":{{{}}}"#, joined(100_000, |at| format!(r#""l{at}":"v""#)))),
    ("annotations", || {
        format!(r#""annotations":{{{}}}"#, joined(50_000, |at| format!(r#""a{at}":"v""#)))
    }),
    ("finalizers", || {
        format!(r#""finalizers":[{}]"#, joined(50_000, |at| format!(r#""e.com/{at}""#)))
    }),
    ("owners", || {
        let owner =
            |at| format!(r#"{{"apiVersion":"v1","kind":"Pod","name":"p{at}","uid":"u{at}"}}"#);
        format!(r#""ownerReferences":[{}]"#, joined(20_000, owner))
    }),
    ("managers", || {
        let manager = |at| {
            format!(
                r#"{{"manager":"m{at}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{{"f:data":{{"f:a{at}":{{}}}}}}}}"#
            )
        };
        format!(r#""managedFields":[{}]"#, joined(5_000, manager))
    }),
    ("a long name", || format!(r#""name":"{}""#, "x".repeat(1 << 20))),
    ("a long prefix", || format!(r#""generateName":"{}""#, "x".repeat(1 << 20))),
];

/// YAML that multiplies.
const YAMLS: &[(&str, Make)] = &[
    ("nine anchors", || anchors(9, 9)),
    ("thirty anchors", || anchors(25, 2)),
    ("an anchor within itself", || "a: &a [*a, *a]".to_owned()),
    ("merge keys", || {
        let merges = joined(1000, |_| "*a".to_owned());
        format!("a: &a {{b: 1}}\nc:\n  <<: [{merges}]\n")
    }),
    ("flow lists", || "[".repeat(100_000)),
    ("flow maps", || "{a: ".repeat(100_000)),
    ("block lists", || "- ".repeat(100_000)),
    ("block maps", || (0..1500).flat_map(|at| [" ".repeat(at), "a:\n".to_owned()]).collect()),
    ("complex keys", || "? ".repeat(100_000)),
    ("documents", || "---\n".repeat(700_000)),
    ("null items", || "-\n".repeat(1_000_000)),
    ("scalars", || format!("[{}a]", "a,".repeat(1_000_000))),
    ("lines of a text", || format!("a: |\n{}", " x\n".repeat(900_000))),
    ("tags", || format!("[{}]", "!!str a,".repeat(100_000))),
    ("comments", || "#\n".repeat(1_000_000)),
    ("colons", || ":".repeat(MOST - 10)),
    ("spaces", || " ".repeat(MOST - 10)),
    ("tabs", || "\t".repeat(MOST - 10)),
    ("zeroes", || "\0".repeat(1000)),
];

/// JSON patches that multiply, deepen or shift.
const PATCHES: &[(&str, Make)] = &[
    ("copies of 100 kB", || doubled(&format!("[\"{}\"]", "x".repeat(100_000)), 18)),
    ("copies of tiny maps", || doubled(&list_of(r#"{"":0}"#, 10_000), 18)),
    ("copies of nothing", || doubled("[[]]", 9_000)),
    ("copies into the deep", || {
        let step = |at: usize| {
            let path = "/0".repeat((1 << at.min(10)) - 1);
            format!(r#"{{"op":"copy","from":"/data","path":"/data{path}/0"}}"#)
        };
        format!(r#"[{{"op":"add","path":"/data","value":[[]]}},{}]"#, joined(200, step))
    }),
    ("moves into itself", || {
        let step = |_| r#"{"op":"move","from":"/data","path":"/data/a"}"#.to_owned();
        format!("[{}]", joined(5_000, step))
    }),
    ("shifts", || {
        let step = |_| r#"{"op":"add","path":"/data/0","value":0}"#.to_owned();
        let list = list_of("0", 1_000_000);
        format!(r#"[{{"op":"add","path":"/data","value":{list}}},{}]"#, joined(9_000, step))
    }),
    ("moves of much", || {
        let there = r#"{"op":"move","from":"/data","path":"/a"}"#;
        let back = r#"{"op":"move","from":"/a","path":"/data"}"#;
        let steps = joined(4_000, |_| format!("{there},{back}"));
        let list = list_of("0", 1_000_000);
        format!(r#"[{{"op":"add","path":"/data","value":{list}}},{steps}]"#)
    }),
    ("too many operations", || {
        format!("[{}]", joined(10_001, |_| r#"{"op":"test","path":"/a"}"#.to_owned()))
    }),
    ("empty operations", || list_of("{}", 1_000_000)),
    ("a huge index", || {
        r#"[{"op":"add","path":"/metadata/finalizers","value":[]},
            {"op":"add","path":"/metadata/finalizers/9223372036854775807","value":"x"}]"#
            .to_owned()
    }),
    ("the smallest index", || {
        r#"[{"op":"add","path":"/metadata/finalizers","value":[]},
            {"op":"add","path":"/metadata/finalizers/-9223372036854775808","value":"x"}]"#
            .to_owned()
    }),
    ("a long path", || format!(r#"[{{"op":"test","path":"{}"}}]"#, "/a".repeat(1_000_000))),
    ("the whole document", || r#"[{"op":"replace","path":"","value":[]}]"#.to_owned()),
    ("no operations", || "null".to_owned()),
];

/// Schemas whose checks or defaults multiply.
const SCHEMAS: &[(&str, Make)] = &[
    ("deep properties", || nested(r#"{"type":"object","properties":{"a":"#, "}}", 40)),
    ("deeper properties", || nested(r#"{"type":"object","properties":{"a":"#, "}}", 5_000)),
    ("a huge pattern", || pattern("(a{1000}){1000}")),
    ("a huge class", || pattern(r"(\\pL{500}){2}")),
    ("a nested pattern", || pattern(&nested("(", ")", 10_000))),
    ("an exponential pattern", || pattern("(a*)*(a*)*(a*)*b")),
    ("many patterns", || {
        let one = |at| format!(r#""p{at}":{{"type":"string","pattern":"[a-z]{{1,50}}"}}"#);
        format!(r#"{{"type":"object","properties":{{{}}}}}"#, joined(3_000, one))
    }),
    ("many values", || {
        format!(r#"{{"type":"string","enum":[{}]}}"#, joined(80_000, |at| format!("\"{at}\"")))
    }),
    ("many branches", || {
        let branches = joined(5_000, |at| format!(r#"{{"required":["f{at}"]}}"#));
        format!(r#"{{"type":"object","oneOf":[{branches}]}}"#)
    }),
];

/// All attempts with bodies.
pub(super) fn attempts() -> Vec<Attempt> {
    let mut all = vec![
        posts("a type that keeps everything", DEFINITIONS, JSON, || definition("things", KEEPS)),
        posts("a type with defaults", DEFINITIONS, JSON, || definition("defaults", DEFAULTS)),
        posts("the object to patch", THINGS, JSON, || thing("target", "\"data\":{}")),
        posts("the config map to patch", CONFIG_MAPS, JSON, || {
            r#"{"metadata":{"name":"target"}}"#.to_owned()
        }),
        posts("a multiplied default", &THINGS.replace("things", "defaults"), JSON, || {
            let list = list_of("{}", 500_000);
            let head = r#""apiVersion":"hostile.example.com/v1","kind":"Defaults""#;
            format!(r#"{{{head},"metadata":{{"name":"much"}},"list":{list}}}"#)
        }),
    ];
    for (name, make) in VALUES {
        all.push(posts(&format!("{name} in data"), CONFIG_MAPS, JSON, || {
            format!(r#"{{"metadata":{{"name":"v"}},"data":{}}}"#, make())
        }));
        all.push(posts(&format!("{name} in a thing"), THINGS, JSON, || {
            thing("v", &format!("\"data\":{}", make()))
        }));
        all.push(patches(&format!("{name} merged"), MERGE_PATCH, || {
            format!("{{\"data\":{}}}", make())
        }));
        all.push(patches(&format!("{name} applied"), APPLY, || {
            thing("target", &format!("\"data\":{}", make()))
        }));
    }
    for (name, make) in METADATA {
        all.push(posts(&format!("{name} of a config map"), CONFIG_MAPS, JSON, || {
            format!(r#"{{"metadata":{{"name":"m",{}}}}}"#, make())
        }));
        all.push(patches(&format!("{name} of a thing"), MERGE_PATCH, || {
            format!(r#"{{"metadata":{{{}}}}}"#, make())
        }));
    }
    for (name, make) in YAMLS {
        all.push(posts(&format!("{name} of YAML"), CONFIG_MAPS, YAML, make));
        all.push(patches(&format!("{name} of YAML, applied"), APPLY, make));
    }
    all.extend(PATCHES.iter().map(|(name, make)| patches(name, JSON_PATCH, make)));
    for (at, (name, make)) in SCHEMAS.iter().enumerate() {
        all.push(posts(name, DEFINITIONS, JSON, move || definition(&format!("t{at}s"), &make())));
    }
    all
}

fn posts(
    name: &str,
    path: &str,
    media: &'static str,
    make: impl Fn() -> String + 'static,
) -> Attempt {
    let path = path.to_owned();
    Attempt::new(name, move |process| drop(process.send("POST", &path, media, make().as_bytes())))
}

/// A patch of the thing and of the config map.
fn patches(name: &str, media: &'static str, make: impl Fn() -> String + 'static) -> Attempt {
    Attempt::new(name, move |process| {
        for collection in [THINGS, CONFIG_MAPS] {
            let query = if media == APPLY { "?fieldManager=hostile&force=true" } else { "" };
            let target = format!("{collection}/target{query}");
            drop(process.send("PATCH", &target, media, make().as_bytes()));
        }
    })
}

const KEEPS: &str = r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true}"#;
const DEFAULTS: &str = r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{
    "a":{"type":"object","default":{},"properties":{"b":{"type":"string","default":"0123456789012345678901234567890123456789"},
    "c":{"type":"array","items":{"type":"string"},"default":["a","b","c","d","e","f","g","h","i","j","k","l"]}}}}}}}}"#;

fn definition(plural: &str, schema: &str) -> String {
    let kind = format!("{}{}", plural[..1].to_uppercase(), &plural[1..]);
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{plural}.hostile.example.com"}},
        "spec":{{"group":"hostile.example.com","scope":"Namespaced","names":{{"plural":"{plural}","kind":"{kind}"}},
        "versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}"#
    )
}

fn thing(name: &str, more: &str) -> String {
    format!(
        r#"{{"apiVersion":"hostile.example.com/v1","kind":"Things","metadata":{{"name":"{name}"}},{more}}}"#
    )
}

fn pattern(pattern: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"p":{{"type":"string","pattern":"{pattern}"}}}}}}"#)
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    let innermost = if open == "[" { "" } else { "{}" };
    format!("{}{innermost}{}", open.repeat(depth), close.repeat(depth))
}

/// A list of a third of what a body may have: more takes minutes without optimisation.
fn list(item: &str) -> String {
    list_of(item, MOST / 3 / (item.len() + 1))
}

fn list_of(item: &str, times: usize) -> String {
    format!("[{}]", joined(times, |_| item.to_owned()))
}

fn joined(times: usize, make: impl Fn(usize) -> String) -> String {
    (0..times).map(make).collect::<Vec<_>>().join(",")
}

/// Levels of anchors, each so many times the one before.
fn anchors(levels: usize, times: usize) -> String {
    let level = |at: usize| {
        let before = joined(times, |_| format!("*a{}", at - 1));
        format!("a{at}: &a{at} [{before}]\n")
    };
    let rest: String = (1..levels).map(level).collect();
    format!("a0: &a0 [lol, lol, lol]\n{rest}")
}

/// A list that is copied into itself.
fn doubled(list: &str, times: usize) -> String {
    let copies = joined(times, |_| r#"{"op":"copy","from":"/data","path":"/data/-"}"#.to_owned());
    format!(r#"[{{"op":"add","path":"/data","value":{list}}},{copies}]"#)
}
