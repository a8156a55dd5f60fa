//! Who a client is: by its certificate, or by its bearer token, which is that of the administrator or of a service
//! account.

use rustls::pki_types::CertificateDer;

use crate::{
    account_tokens::{self, Authenticated},
    shared::Shared,
    users::{self, User},
};

/// What is said of a token that nobody has.
const UNKNOWN: &str = "invalid bearer token";

/// The user whose certificate is the first of a chain; nothing without one, or if it names nobody.
pub(crate) fn by_certificate(
    server: &Shared,
    chain: &[CertificateDer<'_>],
) -> Result<Option<User>, String> {
    if chain.is_empty() {
        return Ok(None);
    }
    let credentials = server.cluster.keychain.credentials().map_err(|error| error.to_string())?;
    let now = server.cluster.clock.now();
    credentials.check_client(chain, now).map_err(|error| error.to_string())?;
    Ok(users::user_of(&chain[0])?)
}

/// The user whose token it is, if the token is meant for one of the audiences; none mean this server.
pub(crate) fn by_token(
    server: &Shared,
    token: &str,
    audiences: &[String],
) -> Result<Authenticated, String> {
    let own = [account_tokens::AUDIENCE.to_owned()];
    let audiences = if audiences.is_empty() { &own } else { audiences };
    if let Some(user) = server.tokens.user(token) {
        let is_meant = audiences.contains(&own[0]);
        let authenticated = || Authenticated { user, audiences: own.to_vec() };
        return is_meant.then(authenticated).ok_or_else(|| UNKNOWN.to_owned());
    }
    match account_tokens::authenticate(&server.cluster, token, audiences) {
        Ok(found) => found.ok_or_else(|| UNKNOWN.to_owned()),
        // The real server looks at a token in two ways, of which the first says nothing else.
        Err(why) => Err(format!("[{UNKNOWN}, {why}]")),
    }
}
