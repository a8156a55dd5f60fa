//! The media types of operations. Custom types have fewer.

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// The media types of watches.
pub(super) const STREAMS: [&str; 2] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
/// Any media type.
pub(super) const ANY: &str = "*/*";
const PATCHES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

/// The media types of answers.
pub(super) fn media(is_custom: bool) -> &'static [&'static str] {
    if is_custom { &[JSON, YAML] } else { &[JSON, PROTOBUF, YAML] }
}

/// The media types of bodies.
pub(super) fn accepted(is_custom: bool) -> &'static [&'static str] {
    if is_custom { &[JSON, YAML] } else { &[ANY] }
}

/// The media types of patches.
pub(super) fn patches(is_custom: bool) -> &'static [&'static str] {
    if is_custom { &PATCHES[..3] } else { &PATCHES }
}
