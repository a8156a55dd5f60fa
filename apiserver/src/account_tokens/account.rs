//! Whose a token is, and why it is no longer good.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    bound::Kind,
    claims::{Claims, Reference},
};
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Object, ObjectKey},
    schema::go_value,
    status::StatusError,
    users::User,
};

/// How far clocks may be apart, and how long an object counts after its deletion began. In seconds.
const LEEWAY: i64 = 60;
/// What the extras of a user begin with.
const EXTRA: &str = "authentication.kubernetes.io/";
/// What is said of a token whose bound object is gone.
const INVALIDATED: &str = "service account token has been invalidated";

/// Who has proved to be somebody, and to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authenticated {
    /// Who.
    pub user: User,
    /// The audiences that the proof is meant for, of those that were asked for.
    pub audiences: Vec<String>,
}

/// The service account that a token is of; nothing if it is no such token. The error says why it is not accepted.
pub(crate) fn authenticate(
    cluster: &Cluster,
    token: &str,
    audiences: &[String],
) -> Result<Option<Authenticated>, String> {
    let credentials = cluster.keychain.credentials().map_err(|error| error.to_string())?;
    let Some(claims) = Claims::verify(token, &credentials.token_key)? else { return Ok(None) };
    let meant: Vec<String> =
        audiences.iter().filter(|asked| claims.aud.contains(asked)).cloned().collect();
    if meant.is_empty() {
        let [of, target] = [&claims.aud[..], audiences].map(quoted);
        return Err(format!("token audiences {of} is invalid for the target audiences {target}"));
    }
    let now = cluster.clock.now().as_second();
    check_time(&claims, now)?;
    check_account(cluster, &claims, now)?;
    check_bound(cluster, &claims, now)?;
    Ok(Some(Authenticated { user: user(claims), audiences: meant }))
}

fn check_time(claims: &Claims, now: i64) -> Result<(), &'static str> {
    if now + LEEWAY < claims.nbf {
        return Err("service account token is not valid yet");
    }
    if now - LEEWAY > claims.exp {
        return Err("service account token has expired");
    }
    if now + LEEWAY < claims.iat {
        return Err("service account token is issued in the future");
    }
    Ok(())
}

fn check_account(cluster: &Cluster, claims: &Claims, now: i64) -> Result<(), String> {
    let (namespace, Reference { name, uid }) = (&claims.objects.namespace, &claims.objects.account);
    let accounts = GroupResource::new("", "serviceaccounts");
    let key = ObjectKey::new(namespace.as_str(), name.as_str());
    let Some(account) = cluster.log.get(&accounts, &key) else {
        return Err(StatusError::not_found(&accounts, name).to_string());
    };
    let found = &account.meta.uid;
    if **found != **uid {
        return Err(format!("service account UID ({found}) does not match claim ({uid})"));
    }
    if is_deleted(&account, now) {
        return Err(format!("service account {namespace}/{name} has been deleted"));
    }
    Ok(())
}

/// Checks what the token is bound to; the node of a bound Pod does not matter.
fn check_bound(cluster: &Cluster, claims: &Claims, now: i64) -> Result<(), String> {
    let objects = &claims.objects;
    let node = objects.node.as_ref().filter(|_| objects.pod.is_none());
    let bound = [
        (Kind::Secret, objects.secret.as_ref()),
        (Kind::Pod, objects.pod.as_ref()),
        (Kind::Node, node),
    ];
    for (kind, reference) in bound {
        let Some(Reference { name, uid }) = reference else { continue };
        let object = kind.find(cluster, &objects.namespace, name).ok_or(INVALIDATED)?;
        let ([title, word], found) = (kind.titles(), &object.meta.uid);
        if **found != **uid {
            return Err(format!(
                "{title} UID ({found}) does not match service account {word} ref claim ({uid})"
            ));
        }
        if is_deleted(&object, now) {
            return Err(INVALIDATED.to_owned());
        }
    }
    Ok(())
}

/// Whether the deletion of an object began so long ago that it does not count any more.
fn is_deleted(object: &Object, now: i64) -> bool {
    let since = || {
        let value = object.value();
        value["metadata"]["deletionTimestamp"].as_str()?.parse::<Timestamp>().ok()
    };
    object.meta.deleting && since().is_some_and(|time| time.as_second() < now - LEEWAY)
}

fn user(claims: Claims) -> User {
    let Claims { objects, jti, .. } = claims;
    let mut extra = BTreeMap::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            extra.insert(format!("{EXTRA}{name}"), vec![value]);
        }
    };
    add("credential-id", format!("JTI={jti}"));
    for (kind, reference) in [("pod", objects.pod), ("node", objects.node)] {
        if let Some(Reference { name, uid }) = reference {
            add(&format!("{kind}-name"), name);
            add(&format!("{kind}-uid"), uid);
        }
    }
    let user = User::service_account(&objects.namespace, &objects.account.name);
    User { uid: objects.account.uid, extra, ..user }.authenticated()
}

/// As Go prints a list of texts.
fn quoted(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| go_value::quote(text)).collect();
    format!("[{}]", quoted.join(" "))
}
