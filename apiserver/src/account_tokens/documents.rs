//! The documents by which others verify tokens: who issues them, and with which key.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::claims::{ALGORITHM, ISSUER};
use crate::credentials::TokenKey;

/// The discovery document of the issuer, of a server that answers at this host.
pub(crate) fn configuration(host: &str) -> Value {
    json!({
        "issuer": ISSUER,
        "jwks_uri": format!("https://{host}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
    })
}

/// The public keys.
pub(crate) fn keys(key: &TokenKey) -> Value {
    let [x, y] = key.point().map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
    json!({ "keys": [{
        "use": "sig", "kty": "EC", "kid": key.id(), "crv": "P-256", "alg": ALGORITHM, "x": x, "y": y,
    }] })
}
