//! Writes all objects of a type as they are, page by page.

use std::{collections::HashSet, time::Duration};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use http::Method;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::sleep;

use super::{
    pace::Pace,
    progress::{Progress, Written},
    todo::Rewrite,
};
use crate::{
    cluster::{Cluster, api::ApiRequest, list::PAGE_SIZE},
    object::{ObjectKey, Quoted, Redactor, SecretValues},
    reply::{ApiError, ErrorClass},
};

/// How many requests are in progress at once.
const AT_ONCE: usize = 8;
/// How long a request waits that the server cannot answer now, at first.
const WAIT: Duration = Duration::from_secs(1);

/// How fast, how patiently, and whether at all.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) pace: Pace,
    /// How often a request is sent that the server cannot answer now.
    pub(crate) attempts: u32,
    pub(crate) is_dry_run: bool,
}

/// What has happened.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// This became of an object.
    Written(&'a Written),
    /// All objects of a page were written, and there are more.
    Page,
}

/// Why not all objects were written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RewriteError {
    #[error("its objects cannot be listed: {}", reason(.0))]
    List(ApiError),
    #[error("its objects cannot be written: {0}")]
    NotAllowed(String),
}

/// A page of a list, of which each object is kept whole.
#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMeta,
    items: Option<Vec<Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageMeta {
    #[serde(rename = "continue")]
    token: Option<String>,
    remaining_item_count: Option<usize>,
}

impl Cluster {
    /// Writes every object once. Those that are created meanwhile are stored in the storage version anyway.
    pub(crate) async fn rewrite(
        &self,
        todo: &Rewrite,
        terms: &Terms,
        progress: &mut Progress,
        mut observe: impl FnMut(Step<'_>, &Progress),
    ) -> Result<(), RewriteError> {
        let (mut token, mut seen) = (None, HashSet::new());
        loop {
            let Some(page) = self.next_page(todo, terms, &mut token).await? else { continue };
            let items = page.items.unwrap_or_default();
            let fresh: Vec<Value> =
                items.into_iter().filter(|it| seen.insert(uid_of(it).to_owned())).collect();
            token = page.metadata.token.filter(|token| !token.is_empty());
            let after = if token.is_none() { Some(0) } else { page.metadata.remaining_item_count };
            progress.expect(after.map(|after| after + fresh.len()));
            let writes =
                fresh.into_iter().map(|object| self.write_again(todo, terms, object).boxed());
            let mut answers = stream::iter(writes).buffer_unordered(AT_ONCE);
            while let Some((key, written)) = answers.next().await {
                progress.add(key, written.clone());
                observe(Step::Written(&written), progress);
                if let Written::NotAllowed(why) = written {
                    return Err(RewriteError::NotAllowed(why));
                }
            }
            if token.is_none() {
                return Ok(());
            }
            observe(Step::Page, progress);
        }
    }

    /// `None` after the token expired: then it is that with which the server continues, on newer objects, and without one
    /// the list begins again.
    async fn next_page(
        &self,
        todo: &Rewrite,
        terms: &Terms,
        token: &mut Option<String>,
    ) -> Result<Option<Page>, RewriteError> {
        let page = answered(terms, || self.page_of_all(todo, token.as_deref()).boxed()).await;
        match page {
            Ok(page) => Ok(Some(page)),
            Err(ApiError::Refused { refusal, .. }) if refusal.code == 410 && token.is_some() => {
                *token = refusal.continues_at.filter(|token| !token.is_empty());
                Ok(None)
            }
            Err(error) => Err(RewriteError::List(error)),
        }
    }

    async fn page_of_all(&self, todo: &Rewrite, token: Option<&str>) -> Result<Page, ApiError> {
        let request = ApiRequest::get("list", &todo.ty, todo.ty.collection_path(None))
            .with_query("limit", PAGE_SIZE.to_string());
        let request =
            token.into_iter().fold(request, |request, token| request.with_query("continue", token));
        let name = request.name();
        let answer = self.send(request).await?;
        serde_json::from_slice(&answer).map_err(|error| ApiError::malformed(name, &error))
    }

    /// Writes one object when it is its turn.
    async fn write_again(
        &self,
        todo: &Rewrite,
        terms: &Terms,
        object: Value,
    ) -> (ObjectKey, Written) {
        terms.pace.turn().await;
        let key = key_of(&object);
        let sent = answered(terms, || self.put(todo, terms, &key, &object).boxed()).await;
        let written = match sent {
            Ok(()) => Written::Rewritten,
            Err(error) => Written::refused(error.class(), reason(&error)),
        };
        (key, shown(written, todo, object))
    }

    /// A PUT: a patch without a change is not written.
    async fn put(
        &self,
        todo: &Rewrite,
        terms: &Terms,
        key: &ObjectKey,
        object: &Value,
    ) -> Result<(), ApiError> {
        let request = ApiRequest::get("update", &todo.ty, todo.ty.object_path(key));
        let mut request =
            if terms.is_dry_run { request.with_query("dryRun", "All") } else { request };
        request.method = Method::PUT;
        request.body = object.to_string().into_bytes();
        self.send(request).await.map(drop)
    }
}

/// The server may quote the object.
fn shown(written: Written, todo: &Rewrite, object: Value) -> Written {
    let Written::Failed(why) = written else { return written };
    let mut secret = SecretValues::default();
    todo.secrets.collect_values(object, &mut secret);
    Written::Failed(Redactor::of(secret).shown(&Quoted::new(why)).to_string())
}

/// Sends a request again which the server cannot answer now.
async fn answered<'a, T>(
    terms: &Terms,
    send: impl Fn() -> BoxFuture<'a, Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let mut wait = WAIT;
    for _ in 1..terms.attempts {
        match send().await {
            Err(error) if is_transient(&error) => sleep(wait).await,
            answer => return answer,
        }
        wait *= 2;
    }
    send().await
}

fn is_transient(error: &ApiError) -> bool {
    match error.class() {
        ErrorClass::Retry | ErrorClass::Wait(_) => error.code() != Some(410),
        ErrorClass::Conflict
        | ErrorClass::Missing
        | ErrorClass::NotServed
        | ErrorClass::Forbidden
        | ErrorClass::Permanent => false,
    }
}

/// Of the server, without the code and the request.
pub(super) fn reason(error: &ApiError) -> String {
    error.refusal().map_or_else(|| error.said(), |refusal| refusal.message.clone())
}

fn uid_of(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

fn key_of(object: &Value) -> ObjectKey {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    ObjectKey::new(metadata["namespace"].as_str(), name)
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        num::NonZeroU32,
        sync::{Arc, Mutex as StdMutex},
    };

    use http::{Request, Response};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::{Client, client::Body};
    use serde_json::json;
    use tower::service_fn;

    use super::{super::todo::Todo, *};
    use crate::{metrics::Metrics, object::KeptManagers};

    /// A server of two pages, which answers writes of an object by the number in its name, and whose token expires once.
    fn server(seen: &Arc<StdMutex<Vec<String>>>, token_after: Option<&'static str>) -> Cluster {
        let seen = Arc::clone(seen);
        let answer = move |request: Request<Body>| {
            let at = request.uri().path_and_query().unwrap().to_string();
            let (code, body) = match *request.method() {
                Method::PUT => of_write(&at),
                _ if at.contains("continue=first") => expired(token_after),
                _ if at.contains("continue=") => (200, page(&["ns/200-b", "ns/409-c"], "")),
                // The whole list, when the first token has expired and there is no other.
                _ if token_after.is_none() && seen.lock().unwrap().len() > 2 => {
                    (200, page(&["ns/200-a", "ns/404-a", "ns/200-b", "ns/409-c"], ""))
                }
                _ => (200, page(&["ns/200-a", "ns/404-a"], "first")),
            };
            seen.lock().unwrap().push(format!("{} {at}", request.method()));
            let body = Body::from(body.to_string().into_bytes());
            let response = Response::builder().status(code).body(body).unwrap();
            std::future::ready(Ok::<_, Infallible>(response))
        };
        let client = Client::new(service_fn(answer), "default");
        Cluster::new(client, Metrics::new(), KeptManagers::default())
    }

    fn of_write(at: &str) -> (u16, Value) {
        let name = at.rsplit('/').next().unwrap();
        let code = name.split('-').next().unwrap().parse().unwrap();
        let refusal = json!({"kind": "Status", "status": "Failure", "code": code, "message": "no", "reason": "",
            "details": {"kind": "shops", "name": name}});
        (code, if code == 200 { object("ns/200-a") } else { refusal })
    }

    fn expired(token: Option<&str>) -> (u16, Value) {
        let metadata = json!({"continue": token});
        (
            410,
            json!({"kind": "Status", "status": "Failure", "code": 410, "message": "", "reason": "Expired",
            "metadata": metadata}),
        )
    }

    fn object(key: &str) -> Value {
        let (namespace, name) = key.split_once('/').unwrap();
        json!({"apiVersion": "example.com/v1", "kind": "Shop",
            "metadata": {"namespace": namespace, "name": name, "uid": name, "resourceVersion": "1"}})
    }

    fn page(keys: &[&str], token: &str) -> Value {
        let items: Vec<Value> = keys.iter().map(|key| object(key)).collect();
        json!({"apiVersion": "example.com/v1", "kind": "ShopList", "metadata": {"continue": token},
            "items": items})
    }

    fn todo() -> Box<Rewrite> {
        let crd: CustomResourceDefinition = serde_json::from_value(json!({
            "metadata": {"name": "shops.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Shop", "plural": "shops"},
                "versions": [{"name": "v1", "served": true, "storage": true}]},
            "status": {"storedVersions": ["v1alpha1", "v1"]},
        }))
        .unwrap();
        let Ok(Todo::Rewrite(todo)) = Todo::of(&crd) else { panic!("there is something to do") };
        todo
    }

    fn terms(is_dry_run: bool) -> Terms {
        let pace = Pace::per_second(NonZeroU32::new(1000).unwrap());
        Terms { pace, attempts: 1, is_dry_run }
    }

    #[tokio::test]
    async fn each_object_is_written_once_also_if_the_token_of_the_list_expires() {
        for token_after in [Some("second"), None] {
            let seen = Arc::default();
            let mut progress = Progress::naming(1);
            let (cluster, mut pages) = (server(&seen, token_after), 0);
            let observe = |step: Step<'_>, _: &Progress| {
                pages += usize::from(matches!(step, Step::Page));
            };
            cluster.rewrite(&todo(), &terms(false), &mut progress, observe).await.unwrap();
            assert_eq!((pages, progress.remaining()), (1, Some(0)));
            let said = progress.said(false);
            assert!(
                said.starts_with(
                    "2 written, 1 written by others meanwhile, 1 deleted meanwhile, 0"
                ),
                "{said}"
            );
            let seen = seen.lock().unwrap();
            let mut puts: Vec<_> = seen.iter().filter(|it| it.starts_with("PUT")).collect();
            puts.sort();
            puts.dedup();
            assert_eq!(puts.len(), 4, "{seen:?}");
        }
    }

    #[tokio::test]
    async fn what_the_server_refuses_is_named_and_a_dry_run_says_so_to_the_server() {
        let seen = Arc::default();
        let cluster = server(&seen, None);
        for (name, expected) in
            [("422-a", Written::Failed("no".to_owned())), ("200-a", Written::Rewritten)]
        {
            let object = object(&format!("ns/{name}"));
            assert_eq!(cluster.write_again(&todo(), &terms(true), object).await.1, expected);
        }
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|it| it.contains("dryRun=All")), "{seen:?}");
        assert!(seen[0].contains("/apis/example.com/v1/namespaces/ns/shops/422-a"), "{seen:?}");
    }
}
