//! What a token says, and the text that carries it.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::credentials::TokenKey;

/// Who issues the tokens. It is the audience of tokens that name none, too.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";
/// The algorithm of the signature.
pub(super) const ALGORITHM: &str = "ES256";

/// The claims of a token. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claims {
    pub(super) aud: Vec<String>,
    pub(super) exp: i64,
    pub(super) iat: i64,
    pub(super) iss: String,
    pub(super) jti: String,
    #[serde(rename = "kubernetes.io")]
    pub(super) objects: Objects,
    pub(super) nbf: i64,
    pub(super) sub: String,
}

/// The objects that have to exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Objects {
    pub(super) namespace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pod: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<Reference>,
    #[serde(rename = "serviceaccount")]
    pub(super) account: Reference,
    /// From when on a client uses the token for longer than it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) warnafter: Option<i64>,
}

/// One object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reference {
    pub(super) name: String,
    /// Empty for the node of a Pod that does not exist.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) uid: String,
}

impl Claims {
    /// The token that carries the claims.
    pub(super) fn sign(&self, key: &TokenKey) -> Option<String> {
        let encoded = |part: Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
        let header = json!({ "alg": ALGORITHM, "kid": key.id() });
        let signed = format!("{}.{}", encoded(header), encoded(json!(self)));
        let signature = BASE64_URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes())?);
        Some(format!("{signed}.{signature}"))
    }

    /// The claims of a token; nothing if it is from another issuer, or none at all.
    pub(super) fn verify(token: &str, key: &TokenKey) -> Result<Option<Self>, &'static str> {
        let Some((signed, signature)) = token.rsplit_once('.') else { return Ok(None) };
        let Some((header, claims)) = signed.split_once('.') else { return Ok(None) };
        let (Some(header), Some(claims)) = (json_in(header), json_in(claims)) else {
            return Ok(None);
        };
        let Ok(signature) = BASE64_URL_SAFE_NO_PAD.decode(signature) else { return Ok(None) };
        if claims["iss"] != ISSUER {
            return Ok(None);
        }
        if header["kid"].as_str().is_some_and(|id| !id.is_empty() && id != key.id()) {
            return Err("invalid signature, no keys found");
        }
        if header["alg"] != ALGORITHM || !key.verifies(signed.as_bytes(), &signature) {
            return Err("go-jose/go-jose: error in cryptographic primitive");
        }
        serde_json::from_value(claims).map(Some).map_err(|_| "the claims cannot be read")
    }
}

fn json_in(part: &str) -> Option<Value> {
    let text = BASE64_URL_SAFE_NO_PAD.decode(part).ok()?;
    serde_json::from_slice(&text).ok().filter(Value::is_object)
}
