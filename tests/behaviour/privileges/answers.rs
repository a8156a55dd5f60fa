//! What the API server answered to the operators: each request with the code of its answer.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response, StatusCode, Uri};
use tokio::sync::watch;
use tower::{Layer, Service};

use super::grant::{self, Grant};

/// One answered request.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    method: Method,
    uri: Uri,
    code: StatusCode,
}

/// The answers so far, oldest first.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    all: Arc<Mutex<Vec<Answer>>>,
    denied: watch::Sender<bool>,
}

impl Answers {
    pub(super) fn new() -> Self {
        Self { all: Arc::default(), denied: watch::Sender::new(false) }
    }

    /// Waits until a request is denied.
    pub(super) async fn until_denied(&self) {
        self.denied.subscribe().wait_for(|is_one| *is_one).await.unwrap();
    }

    pub(super) fn denied(&self) -> Vec<Answer> {
        let all = self.all.lock().unwrap();
        all.iter().filter(|answer| answer.code == StatusCode::FORBIDDEN).cloned().collect()
    }

    /// What allowed requests have needed.
    pub(super) fn used(&self) -> BTreeSet<Grant> {
        let all = self.all.lock().unwrap();
        let allowed = all.iter().filter(|answer| answer.code != StatusCode::FORBIDDEN);
        allowed.flat_map(|it| grant::needed_by(&it.method, &it.uri, it.code)).collect()
    }

    fn add(&self, answer: Answer) {
        let is_denied = answer.code == StatusCode::FORBIDDEN;
        self.all.lock().unwrap().push(answer);
        if is_denied {
            self.denied.send_replace(true);
        }
    }
}

impl<S> Layer<S> for Answers {
    type Service = Answered<S>;

    fn layer(&self, inner: S) -> Answered<S> {
        Answered { inner, answers: self.clone() }
    }
}

/// A client whose answers are recorded.
#[derive(Debug, Clone)]
pub(super) struct Answered<S> {
    inner: S,
    answers: Answers,
}

impl<S, A, B> Service<Request<A>> for Answered<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    B: 'static,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<B>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let answers = self.answers.clone();
        let answering = self.inner.call(request);
        async move {
            let response = answering.await?;
            answers.add(Answer { method, uri, code: response.status() });
            Ok(response)
        }
        .boxed()
    }
}
