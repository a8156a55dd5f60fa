//! A request for a token: what it may ask for, and the answer.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    bound::Kind,
    claims::{Claims, ISSUER, Objects, Reference},
};
use crate::{
    clock,
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Object, ObjectKey},
    schema::{FieldError, FieldPath},
    status::{Result, StatusError},
    users::User,
};

/// The group and kind of requests.
const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
/// How long a token is valid. In seconds, as all durations here.
const USUAL: i64 = 3600;
const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;
/// What the tokens that kubelets put into Pods are asked for, and how long they are valid in truth.
const PROJECTED: i64 = 3607;
const PROJECTED_EXTENDED: i64 = 365 * 24 * 3600;

/// Fills in what every request for a token has.
pub(crate) fn default(asked: &mut Value) {
    if asked["spec"]["expirationSeconds"].is_null() {
        asked["spec"]["expirationSeconds"] = json!(USUAL);
    }
}

/// Issues a token for a service account; `asked` is a `TokenRequest` with its defaults, whose values are of their
/// types, and which `judge` may refuse when it is complete. A dry run issues one too.
pub(crate) fn issue(
    cluster: &Cluster,
    key: &ObjectKey,
    mut asked: Value,
    judge: &dyn Fn(&Value) -> Result<()>,
) -> Result<Value> {
    check_names(key, &asked)?;
    let accounts = GroupResource::new("", "serviceaccounts");
    let account = cluster.log.get(&accounts, key);
    let account = account.ok_or_else(|| StatusError::not_found(&accounts, &key.name))?;
    check_uid(key, &account, &asked)?;
    complete(key, &account, &mut asked);
    let now = cluster.clock.now();
    asked["metadata"]["creationTimestamp"] = json!(clock::seconds(now));
    let errors = wrong_duration(&asked["spec"]["expirationSeconds"]);
    if !errors.is_empty() {
        return Err(StatusError::invalid(GROUP, KIND, "", &errors));
    }
    judge(&asked)?;
    let mut objects = Objects {
        namespace: key.namespace.to_string(),
        account: Reference::to(&key.name, &account),
        node: None,
        pod: None,
        secret: None,
        warnafter: None,
    };
    bind(cluster, key, &asked["spec"]["boundObjectRef"], &mut objects)?;
    let token = sign(cluster, now, &asked, objects)?;
    let expires = after(now, asked["spec"]["expirationSeconds"].as_i64().unwrap_or(USUAL));
    asked["status"] = json!({ "token": token, "expirationTimestamp": clock::seconds(expires) });
    Ok(asked)
}

fn check_names(key: &ObjectKey, asked: &Value) -> Result<()> {
    for (field, expected) in [("name", &key.name), ("namespace", &key.namespace)] {
        let given = text(&asked["metadata"][field]);
        if !given.is_empty() && given != &**expected {
            let path = FieldPath::new("metadata").child(field);
            let why = format!("must match the service account {field} if specified");
            let error = FieldError::invalid(&path, &json!(given), &why);
            return Err(StatusError::invalid(GROUP, KIND, &key.name, &[error]));
        }
    }
    Ok(())
}

fn check_uid(key: &ObjectKey, account: &Object, asked: &Value) -> Result<()> {
    let (given, found) = (text(&asked["metadata"]["uid"]), &account.meta.uid);
    if given.is_empty() || given == &**found {
        return Ok(());
    }
    let why = format!(
        "the UID in the token request ({given}) does not match the UID of the service account ({found})"
    );
    Err(StatusError::conflict(&GroupResource::new(GROUP, KIND), &key.name, &why))
}

/// Fills in what was left out.
fn complete(key: &ObjectKey, account: &Object, asked: &mut Value) {
    let metadata = &mut asked["metadata"];
    metadata["name"] = json!(key.name);
    metadata["namespace"] = json!(key.namespace);
    metadata["uid"] = json!(account.meta.uid);
    if asked["spec"]["audiences"].as_array().is_none_or(Vec::is_empty) {
        asked["spec"]["audiences"] = json!([ISSUER]);
    }
}

fn wrong_duration(given: &Value) -> Vec<FieldError> {
    let seconds = given.as_i64().unwrap_or(USUAL);
    let why = match seconds {
        ..SHORTEST => "may not specify a duration less than 10 minutes",
        SHORTEST..=LONGEST => return Vec::new(),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    vec![FieldError::invalid(&FieldPath::new("spec").child("expirationSeconds"), given, why)]
}

/// Finds the object that the token is to be bound to.
fn bind(cluster: &Cluster, key: &ObjectKey, bound: &Value, objects: &mut Objects) -> Result<()> {
    if bound.is_null() {
        return Ok(());
    }
    let (api_version, name) = (text(&bound["apiVersion"]), text(&bound["name"]));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let Some(kind) = Kind::of(group, text(&bound["kind"])) else {
        let what = format!("{group}/{version}, Kind={}", text(&bound["kind"]));
        let why = format!("cannot bind token to object of type {what}");
        return Err(StatusError::bad_request(why));
    };
    let Some(object) = kind.find(cluster, &key.namespace, name) else {
        return Err(StatusError::not_found(&kind.resource(), name));
    };
    let reference = Some(Reference::to(name, &object));
    match kind {
        Kind::Pod => {
            objects.node = node_of_pod(cluster, key, &object)?;
            objects.pod = reference;
        }
        Kind::Secret => objects.secret = reference,
        Kind::Node => objects.node = reference,
    }
    check_bound_uid(kind, name, text(&bound["uid"]), &object)
}

/// The node of a Pod, which must run as the service account.
fn node_of_pod(cluster: &Cluster, key: &ObjectKey, pod: &Object) -> Result<Option<Reference>> {
    let spec = &pod.value()["spec"];
    if text(&spec["serviceAccountName"]) != &*key.name {
        return Err(StatusError::bad_request(format!(
            "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
            &*key.name
        )));
    }
    let name = text(&spec["nodeName"]);
    if name.is_empty() {
        return Ok(None);
    }
    let node = Kind::Node.find(cluster, "", name);
    let unknown = || Reference { name: name.to_owned(), uid: String::new() };
    Ok(Some(node.map_or_else(unknown, |node| Reference::to(name, &node))))
}

fn check_bound_uid(kind: Kind, name: &str, given: &str, object: &Object) -> Result<()> {
    if given.is_empty() || given == &*object.meta.uid {
        return Ok(());
    }
    let why = format!(
        "the UID in the bound object reference ({given}) does not match the UID in record. \
         The object might have been deleted and then recreated"
    );
    let [title, _] = kind.titles();
    Err(StatusError::conflict(&GroupResource::new("", title), name, &why))
}

fn sign(cluster: &Cluster, now: Timestamp, asked: &Value, mut objects: Objects) -> Result<String> {
    let audiences = asked["spec"]["audiences"].as_array().into_iter().flatten();
    let audiences: Vec<String> = audiences.map(|it| text(it).to_owned()).collect();
    let mut seconds = asked["spec"]["expirationSeconds"].as_i64().unwrap_or(USUAL);
    let is_for_server = audiences.iter().all(|audience| audience == ISSUER);
    if objects.pod.is_some() && seconds == PROJECTED && is_for_server {
        objects.warnafter = Some(after(now, seconds).as_second());
        seconds = PROJECTED_EXTENDED;
    }
    let claims = Claims {
        aud: audiences,
        exp: after(now, seconds).as_second(),
        iat: now.as_second(),
        iss: ISSUER.to_owned(),
        jti: cluster.ids.uid(),
        nbf: now.as_second(),
        sub: User::service_account(&objects.namespace, &objects.account.name).name,
        objects,
    };
    let failed =
        |why: &str| StatusError::internal_error(&format!("failed to generate token: {why}"));
    let credentials = cluster.keychain.credentials().map_err(|error| failed(&error.to_string()))?;
    claims.sign(&credentials.token_key).ok_or_else(|| failed("there are no random bytes"))
}

fn after(now: Timestamp, seconds: i64) -> Timestamp {
    now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
