//! Writes all objects of a type as they are, page by page.

use std::{collections::HashSet, num::NonZeroU32, time::Duration};

use futures::{StreamExt, stream};
use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, ListParams, ObjectList, PostParams, TypeMeta},
};
use tokio::{
    sync::Mutex,
    time::{Interval, MissedTickBehavior, interval, sleep},
};

use super::{
    progress::{Progress, Written},
    todo::Rewrite,
};
use crate::object::ObjectKey;

/// The objects of one answer.
const PAGE: u32 = 500;
/// How many requests are in progress at once.
const AT_ONCE: usize = 8;
/// How often a request is sent that the server cannot answer now, and how long it waits at first.
const ATTEMPTS: u32 = 5;
const WAIT: Duration = Duration::from_secs(1);

/// How fast, and whether at all.
#[derive(Debug)]
pub(super) struct Pace {
    pub(super) per_second: NonZeroU32,
    pub(super) is_dry_run: bool,
}

/// The type cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("its objects cannot be listed: {0}")]
pub(super) struct ListFailed(String);

/// Writes every object once. Those that are created meanwhile are stored in the storage version anyway.
pub(super) async fn rewrite(
    client: &Client,
    todo: &Rewrite,
    pace: &Pace,
    progress: &mut Progress,
) -> Result<(), ListFailed> {
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &todo.resource);
    let ticks = Mutex::new(ticks(pace));
    let mut query = ListParams::default().limit(PAGE);
    let mut seen = HashSet::new();
    loop {
        let Some(list) = next(&all, &mut query).await? else { continue };
        let (remaining, token) = (list.metadata.remaining_item_count, list.metadata.continue_);
        let fresh = list.items.into_iter().filter(|object| seen.insert(object.uid()));
        let writes = fresh.collect::<Vec<_>>().into_iter().map(|object| async {
            ticks.lock().await.tick().await;
            let key = ObjectKey::new(object.metadata.namespace.as_deref(), &object.name_any());
            (key, write(client, todo, object, pace.is_dry_run).await)
        });
        let mut answers = stream::iter(writes).buffer_unordered(AT_ONCE);
        while let Some((key, written)) = answers.next().await {
            progress.add(key, written);
        }
        query.continue_token = token.filter(|token| !token.is_empty());
        if query.continue_token.is_none() {
            return Ok(());
        }
        println!("{}: {}", todo.name, progress.so_far(remaining));
    }
}

fn ticks(pace: &Pace) -> Interval {
    let mut ticks = interval(Duration::from_secs(1) / pace.per_second.get());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// A page. `None` after the token of the query expired: then it has the one with which the server continues, on newer
/// objects, and without one it begins again.
async fn next(
    all: &Api<DynamicObject>,
    query: &mut ListParams,
) -> Result<Option<ObjectList<DynamicObject>>, ListFailed> {
    match answered(async || all.list(query).await).await {
        Ok(list) => Ok(Some(list)),
        Err(kube::Error::Api(status)) if status.code == 410 && query.continue_token.is_some() => {
            query.continue_token = status.metadata.and_then(|metadata| metadata.continue_);
            Ok(None)
        }
        Err(error) => Err(ListFailed(reason(&error))),
    }
}

/// By a PUT: a patch without a change is not written.
async fn write(
    client: &Client,
    todo: &Rewrite,
    mut object: DynamicObject,
    is_dry_run: bool,
) -> Written {
    let api: Api<DynamicObject> = match object.metadata.namespace.as_deref() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &todo.resource),
        None => Api::all_with(client.clone(), &todo.resource),
    };
    let params = PostParams { dry_run: is_dry_run, ..PostParams::default() };
    object.types.get_or_insert_with(|| TypeMeta {
        api_version: todo.resource.api_version.clone(),
        kind: todo.resource.kind.clone(),
    });
    let name = object.name_any();
    match answered(async || api.replace(&name, &params, &object).await).await {
        Ok(_) => Written::Rewritten,
        Err(kube::Error::Api(status)) => Written::refused(status.code, &status.message),
        Err(error) => Written::Failed(reason(&error)),
    }
}

/// Sends a request again which the server cannot answer now.
async fn answered<T>(send: impl AsyncFn() -> kube::Result<T>) -> kube::Result<T> {
    let mut wait = WAIT;
    for _ in 1..ATTEMPTS {
        match send().await {
            Err(error) if is_transient(&error) => sleep(wait).await,
            answer => return answer,
        }
        wait *= 2;
    }
    send().await
}

fn is_transient(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 429 || status.code >= 500,
        _ => true,
    }
}

/// Of the server, without the code and the request.
pub(super) fn reason(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::{Arc, Mutex as StdMutex},
    };

    use http::{Method, Request, Response};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::client::Body;
    use serde_json::{Value, json};
    use tower::service_fn;

    use super::{super::todo::Todo, *};

    /// A server of two pages, which answers writes of an object by the number in its name, and whose token expires once.
    fn server(seen: &Arc<StdMutex<Vec<String>>>, token_after: Option<&'static str>) -> Client {
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
        Client::new(service_fn(answer), "default")
    }

    fn of_write(at: &str) -> (u16, Value) {
        let name = at.rsplit('/').next().unwrap();
        let code = name.split('-').next().unwrap().parse().unwrap();
        let refusal = json!({"kind": "Status", "status": "Failure", "code": code, "message": "no", "reason": ""});
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

    #[tokio::test]
    async fn each_object_is_written_once_also_if_the_token_of_the_list_expires() {
        for token_after in [Some("second"), None] {
            let seen = Arc::default();
            let mut progress = Progress::default();
            let pace = Pace { per_second: NonZeroU32::new(1000).unwrap(), is_dry_run: false };
            let client = server(&seen, token_after);
            rewrite(&client, &todo(), &pace, &mut progress).await.unwrap();
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
        let client = server(&seen, None);
        for (name, expected) in
            [("422-a", Written::Failed("no".to_owned())), ("200-a", Written::Rewritten)]
        {
            let object = serde_json::from_value(object(&format!("ns/{name}"))).unwrap();
            assert_eq!(write(&client, &todo(), object, true).await, expected);
        }
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|it| it.contains("dryRun=All")), "{seen:?}");
        assert!(seen[0].contains("/apis/example.com/v1/namespaces/ns/shops/422-a"), "{seen:?}");
    }
}
