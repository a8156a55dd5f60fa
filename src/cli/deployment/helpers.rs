//! `_helpers.tpl` of the chart: what depends on several values.

use crate::manifests::ManifestError;
use serde_json::{Value, json};

use super::{
    leader,
    setting::{Setting, listening, name_service, spread},
    shards, tls,
};

const HELPERS: &str = include_str!("helpers.tpl");

/// The file, for the operators that were chosen.
pub(super) fn helpers(setting: &Setting, only: &[String]) -> Result<String, ManifestError> {
    let (host, secret) = (setting.host(), &setting.secret);
    let parts = [
        ("args", json!(listening())),
        ("webhooks", json!(setting.webhook_args)),
        ("self-signed", json!([tls::SELF_SIGNED])),
        ("certificate", json!(tls::args())),
        ("leader", json!(leader::args())),
        ("variables", leader::variables()),
        ("sharded", json!(shards::args())),
        ("address", shards::variables()),
        ("one-by-one", shards::strategy()),
        ("spread", spread(&setting.selector)),
        ("labels", setting.labels()),
        ("dns", json!([name_service()])),
        ("volumes", json!([tls::volume(secret)])),
        ("mounts", json!([tls::mount()])),
        ("verification", tls::verification(&host, secret)),
    ];
    let names: Vec<_> = only.iter().map(|name| format!("{name:?}")).collect();
    let text = HELPERS.replace("@only@", &names.join(" "));
    parts.iter().try_fold(text, |text, (name, part)| {
        Ok(text.replace(&format!("@{name}@\n"), &lines(part)?))
    })
}

/// Nothing for an empty list.
fn lines(part: &Value) -> Result<String, ManifestError> {
    if part.as_array().is_some_and(Vec::is_empty) {
        return Ok(String::new());
    }
    let text = serde_yaml_ng::to_string(part).map_err(|error| ManifestError::Yaml(error.into()))?;
    Ok(braces(&text))
}

/// Makes templates of what [`Setting`] has between `<<` and `>>`.
pub(super) fn braces(text: &str) -> String {
    text.replace("<<", "{{ ").replace(">>", " }}")
}
