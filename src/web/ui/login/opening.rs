//! Opens a session for a token, after reviews by the API server.

use std::{net::IpAddr, sync::Arc};

use secrecy::{ExposeSecret, SecretString};

use crate::{
    cluster::User,
    web::{
        access::{Access, Known, Target},
        logins::NoSession,
        status::Refused,
    },
};

/// Opens a session for a token whose user may get one of these. Returns its id, a secret of the
/// browser, and the user.
pub(in crate::web) async fn open_session(
    access: &Access,
    token: SecretString,
    targets: Vec<Target>,
    from: IpAddr,
) -> Result<(String, Arc<User>), Refused> {
    let logins = access.logins();
    if !logins.may_try(from) {
        return Err(Refused::TooManyLogins);
    }
    let known = admitted(access, token.expose_secret(), targets).await.inspect_err(|refused| {
        if matches!(refused, Refused::TokenInvalid | Refused::NotAllowed { .. }) {
            logins.note_failure(from);
        }
    })?;
    Ok((logins.begin(&known.user.username, token)?, known.user))
}

/// The user of a token, who may get one of these.
async fn admitted(access: &Access, token: &str, targets: Vec<Target>) -> Result<Known, Refused> {
    let known = access.identify(token).await?;
    access.check(&known, "get", targets).await?;
    Ok(known)
}

impl From<NoSession> for Refused {
    fn from(why: NoSession) -> Self {
        match why {
            NoSession::NoRandom => {
                Self::Internal("the operating system returned no random numbers".to_owned())
            }
            NoSession::TooMany => Self::TooManySessions,
        }
    }
}
