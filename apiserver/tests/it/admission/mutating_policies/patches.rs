//! Mutations by JSON patches.

use serde_json::{Value, json};

use super::{
    super::pair::{Step, play},
    JSON, answer, config_map, create, one_each, patch,
};

fn patches() -> Vec<(&'static str, Value)> {
    [
        ("add", "[JSONPatch{op: 'add', path: '/data/more', value: 'x'}]"),
        ("none", "size(object.data) > 9 ? [JSONPatch{op: 'remove', path: '/data'}] : []"),
        ("remove", "[JSONPatch{op: 'remove', path: '/data/key'}]"),
        ("replace", "[JSONPatch{op: 'replace', path: '/data/key', value: object.data.key + '!'}]"),
        ("copy", "[JSONPatch{op: 'copy', from: '/data/key', path: '/data/copied'}]"),
        ("move", "[JSONPatch{op: 'move', from: '/data/key', path: '/data/moved'}]"),
        (
            "test",
            "[JSONPatch{op: 'test', path: '/data/key', value: 'value'}, \
             JSONPatch{op: 'add', path: '/data/tested', value: 'x'}]",
        ),
        (
            "failed-test",
            "[JSONPatch{op: 'add', path: '/data/tested', value: 'x'}, \
             JSONPatch{op: 'test', path: '/data/key', value: 'other'}]",
        ),
        (
            "escape",
            "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c~d'.replace('~', '-')), value: 'x'}]",
        ),
        ("map", "[JSONPatch{op: 'add', path: '/data', value: {'a': 'b', 'c': string(object.data.key)}}]"),
        (
            "object",
            "[JSONPatch{op: 'add', path: '/metadata/annotations', value: Object.metadata.annotations{foo: 'bar'}}]",
        ),
        (
            "mapped",
            "object.data.map(k, JSONPatch{op: 'add', path: '/data/x-' + k, value: object.data[k]})",
        ),
        (
            "optional",
            "[JSONPatch{op: 'add', path: '/data/opt', ?value: optional.of('y')}, \
             JSONPatch{op: 'add', path: '/data/opt2', value: object.?data.?nothing.orValue('z')}]",
        ),
        ("missing-value", "[JSONPatch{op: 'add', path: '/data/nothing'}]"),
        ("number", "[JSONPatch{op: 'add', path: '/data/five', value: 5}]"),
        ("unknown-field", "[JSONPatch{op: 'add', path: '/undeclared', value: 'x'}]"),
        ("no-parent", "[JSONPatch{op: 'add', path: '/spec/deep/er', value: 'x'}]"),
        ("no-key", "[JSONPatch{op: 'remove', path: '/data/none'}]"),
        ("no-replace", "[JSONPatch{op: 'replace', path: '/spec/none', value: 'x'}]"),
        ("no-from", "[JSONPatch{op: 'move', from: '/data/none', path: '/data/x'}]"),
        ("wish", "[JSONPatch{op: 'wish', path: '/data/none'}]"),
        ("no-path", "[JSONPatch{op: 'remove'}]"),
        ("misnamed", "[JSONPatch{op: 'add', path: '/metadata/annotations', value: Object.metadata{annotations: Object.metadata.wrong{a: 'b'}}}]"),
        ("failing", "[JSONPatch{op: 'add', path: '/data/x', value: object.data.nothing}]"),
        ("invalid", "[JSONPatch{op: 'add', path: '/data/a b', value: 'x'}]"),
        ("renamed", "[JSONPatch{op: 'replace', path: '/metadata/name', value: 'x'}]"),
        ("no-origin", "[JSONPatch{op: 'copy', path: '/data/x'}]"),
        ("no-destination", "[JSONPatch{op: 'move', from: '/data/key', path: '/spec/x'}]"),
        (
            "no-index",
            "[JSONPatch{op: 'add', path: '/metadata/finalizers', value: ['example.com/a']}, \
             JSONPatch{op: 'remove', path: '/metadata/finalizers/3'}]",
        ),
    ]
    .map(|(name, expression)| (name, patch(expression)))
    .into()
}

#[operetta_harness::test]
async fn patches_change_objects_or_refuse_in_the_same_words() {
    play(
        answer,
        |stage| one_each(stage, &patches()),
        |stage| {
            let mut steps: Vec<_> = patches().iter().map(|(name, _)| create(stage, name)).collect();
            let maps = stage.config_maps();
            let merge = "application/merge-patch+json";
            steps.extend([
                Step("PATCH", format!("{maps}/replace"), merge, json!({"data": {"key": "next"}})),
                Step("PUT", format!("{maps}/add?dryRun=All"), JSON, config_map("add")),
                Step("DELETE", format!("{maps}/add"), JSON, Value::Null),
            ]);
            steps
        },
    )
    .await;
}
