//! The Job that checks a page before it is shown.

use kube::ResourceExt;
use serde_json::{Value, json};

use super::Website;

pub(crate) fn job(website: &Website, html: &str) -> Value {
    let container = json!({
        "name": "check",
        "image": "busybox:1.37",
        "command": ["sh", "-c", "echo \"$HTML\" | grep '<h1>'"],
        "env": [{"name": "HTML", "value": html}],
    });
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": format!("{}-check", website.name_any())},
        "spec": {
            "backoffLimit": 0,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    })
}
