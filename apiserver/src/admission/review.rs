//! The `AdmissionReview` that a webhook gets, and what it answers.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    attributes::{Attributes, Form},
    webhook::{Refusal, Webhook},
};
use crate::status::StatusError;

const GROUP: &str = "admission.k8s.io";
/// The versions that this server speaks.
const KNOWN: [&str; 2] = ["v1", "v1beta1"];

/// A question to a webhook.
#[derive(Debug)]
pub(super) struct Review {
    version: &'static str,
    uid: String,
    pub(super) body: Value,
}

/// A valid answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) warnings: Vec<String>,
    /// The patch in its own text, if there is one.
    pub(super) patch: Option<(String, Vec<u8>)>,
}

impl Review {
    /// The question of a webhook, in the first version that both know.
    pub(super) fn of(
        webhook: &Webhook,
        attributes: &Attributes<'_>,
        form: &Form,
        uid: String,
    ) -> Result<Self, Refusal> {
        let known = |wanted: &String| KNOWN.into_iter().find(|known| known == wanted);
        let Some(version) = webhook.versions.iter().find_map(known) else {
            let why = "could not create admission objects: webhook does not accept known \
                       AdmissionReview versions (v1, v1beta1)";
            return Err(Refusal::Failed(why.to_owned()));
        };
        let body = json!({
            "kind": "AdmissionReview",
            "apiVersion": format!("{GROUP}/{version}"),
            "request": request(attributes, form, &uid),
        });
        Ok(Self { version, uid, body })
    }

    /// What the webhook says.
    pub(super) fn answer(
        &self,
        webhook: &Webhook,
        may_patch: bool,
        text: &[u8],
    ) -> Result<Answer, Refusal> {
        let undecodable = |why: String| Refusal::Failed(format!("failed to call webhook: {why}"));
        let answer: Value = serde_json::from_slice(text).map_err(|_| {
            let why =
                if text.is_empty() { "unexpected end of JSON input" } else { "invalid character" };
            undecodable(format!("couldn't get version/kind; json parse error: {why}"))
        })?;
        self.verify(&answer, may_patch)
            .map_err(|why| Refusal::Failed(format!("received invalid webhook response: {why}")))?;
        let response = &answer["response"];
        let texts = response["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let answer =
            Answer { warnings: texts.map(str::to_owned).collect(), patch: self.patch(response) };
        if response["allowed"] == true {
            return Ok(answer);
        }
        let error = denial(&webhook.name, &response["status"]).with_warnings(&answer.warnings);
        Err(Refusal::Denied(error))
    }

    fn verify(&self, answer: &Value, may_patch: bool) -> Result<(), String> {
        let response = &answer["response"];
        if !response.is_object() {
            return Err("webhook response was absent".to_owned());
        }
        if self.version != "v1" {
            return Ok(());
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let given = text(&response["uid"]);
        if given != self.uid {
            return Err(format!("expected response.uid={:?}, got {given:?}", self.uid));
        }
        let (version, kind) = (text(&answer["apiVersion"]), text(&answer["kind"]));
        if (version.as_str(), kind.as_str()) != ("admission.k8s.io/v1", "AdmissionReview") {
            let version = if version.contains('/') { version } else { format!("/{version}") };
            let expected = "admission.k8s.io/v1, Kind=AdmissionReview";
            return Err(format!(
                "expected webhook response of {expected}, got {version}, Kind={kind}"
            ));
        }
        let (patch, ty) = (text(&response["patch"]), response["patchType"].as_str());
        let why = match (patch.is_empty(), ty) {
            (false, _) if !may_patch => "validating webhook may not return response.patch",
            (_, Some(_)) if !may_patch => "validating webhook may not return response.patchType",
            (false, None) => "webhook returned response.patch but not response.patchType",
            (true, Some(_)) => "webhook returned response.patchType but not response.patch",
            (false, Some("")) => "webhook returned invalid response.patchType of \"\"",
            _ => return Ok(()),
        };
        Err(why.to_owned())
    }

    fn patch(&self, response: &Value) -> Option<(String, Vec<u8>)> {
        let patch = STANDARD.decode(response["patch"].as_str()?).ok()?;
        let ty = if self.version == "v1" { response["patchType"].as_str()? } else { "JSONPatch" };
        (!patch.is_empty()).then(|| (ty.to_owned(), patch))
    }
}

fn request(attributes: &Attributes<'_>, form: &Form, uid: &str) -> Value {
    let Attributes { asked, operation: _, object, old } = attributes;
    let shown = |object: Option<&Value>| object.map(|object| form.of_object(asked, object));
    let mut request = attributes.facts(form);
    request["uid"] = json!(uid);
    request["object"] = json!(shown(*object));
    request["oldObject"] = json!(shown(*old));
    request
}

fn denial(webhook: &str, status: &Value) -> StatusError {
    let by = format!("admission webhook \"{webhook}\" denied the request");
    let text = |field: &str| status[field].as_str().filter(|text| !text.is_empty());
    let message = match text("message").or_else(|| text("reason")) {
        Some(why) => format!("{by}: {why}"),
        None => format!("{by} without explanation"),
    };
    StatusError::of_webhook(status, message)
}
