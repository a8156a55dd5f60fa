//! The layer itself: a request on its way to the server and back.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response, header};
use http_body::Body;
use http_body_util::BodyExt;
use kube::client::Body as ClientBody;
use serde_json::Value;
use tokio::sync::Mutex;
use tower::{BoxError, Layer, Service, ServiceExt};

use super::{
    FaultPlan, FaultyBody, Rewrite, Target,
    fault::{Fault, Point},
    frames,
    plan::Struck,
    reply::{self, ConnectionLost},
    stale,
};

/// Puts a [`FaultPlan`] before the service of a client.
#[derive(Debug, Clone)]
pub struct FaultLayer(FaultPlan);

/// A service with a [`FaultPlan`] before it. All clones share one service.
#[derive(Debug)]
pub struct Faulty<S> {
    plan: FaultPlan,
    inner: Arc<Mutex<S>>,
}

impl FaultLayer {
    /// The layer of a plan.
    pub fn new(plan: &FaultPlan) -> Self {
        Self(plan.clone())
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = Faulty<S>;

    fn layer(&self, inner: S) -> Faulty<S> {
        Faulty { plan: self.0.clone(), inner: Arc::new(Mutex::new(inner)) }
    }
}

impl<S> Clone for Faulty<S> {
    fn clone(&self) -> Self {
        Self { plan: self.plan.clone(), inner: Arc::clone(&self.inner) }
    }
}

impl<S, B> Service<Request<ClientBody>> for Faulty<S>
where
    S: Service<Request<ClientBody>, Response = Response<B>> + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<FaultyBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<FaultyBody>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The inner service is waited for when it is called.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<ClientBody>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move { this.pass(request).await })
    }
}

impl<S, B> Faulty<S>
where
    S: Service<Request<ClientBody>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    async fn pass(&self, request: Request<ClientBody>) -> Result<Response<FaultyBody>, BoxError> {
        let target = Target::of(&request);
        match self.plan.decide(Point::Request, &target) {
            Some(struck) => self.strike(&struck, request, target).await,
            None => self.unharmed(request, target).await,
        }
    }

    async fn strike(
        &self,
        struck: &Struck,
        request: Request<ClientBody>,
        target: Target,
    ) -> Result<Response<FaultyBody>, BoxError> {
        let strike = struck.strike();
        match &struck.rule.fault {
            Fault::Refuse(refusal) => Ok(refusal.response(&target).map(reply::full)),
            Fault::HoldRequest => {
                drop(strike);
                struck.released().await;
                self.unharmed(request, target).await
            }
            Fault::LoseReply => {
                reply::read(self.forward(request).await?).await?;
                Err(ConnectionLost.into())
            }
            Fault::SwallowReply => {
                reply::read(self.forward(request).await?).await?;
                drop(strike);
                struck.released().await;
                Err(ConnectionLost.into())
            }
            Fault::HoldReply => {
                let answer = self.unharmed(request, target).await;
                drop(strike);
                struck.released().await;
                answer
            }
            Fault::CutReply => Ok(reply::cut(reply::read(self.forward(request).await?).await?)),
            Fault::GarbleReply => {
                let answer = reply::read(self.forward(request).await?).await?;
                Ok(reply::replace(answer, reply::GARBAGE))
            }
            Fault::StaleList => self.stale_list(request, target).await,
            Fault::RewriteRequest(rewrite) => {
                self.unharmed(rewritten(request, rewrite).await?, target).await
            }
            Fault::RewriteObjects(rewrite) => {
                let answer = reply::read(self.forward(request).await?).await?;
                Ok(reply::rewrite(answer, &struck.rule, &target, rewrite))
            }
            Fault::CloseWatch | Fault::CutFrame | Fault::ExpireWatch | Fault::HoldFrames => {
                self.unharmed(request, target).await
            }
        }
    }

    /// The request and its answer as they are; frames of a watch are asked for one by one.
    async fn unharmed(
        &self,
        request: Request<ClientBody>,
        target: Target,
    ) -> Result<Response<FaultyBody>, BoxError> {
        let key = stale::key(&request);
        let response = self.forward(request).await?;
        if target.verb == "watch" && response.status().is_success() {
            return Ok(frames::watch(self.plan.clone(), target, key, Vec::new(), response));
        }
        if target.verb == "list" && response.status().is_success() && self.plan.remembers_lists() {
            let answer = reply::read(response).await?;
            self.plan.remember(&key, vec![answer.body().clone()]);
            return Ok(answer.map(reply::full));
        }
        Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
    }

    /// The list that was remembered; one that was not is answered as it is.
    async fn stale_list(
        &self,
        mut request: Request<ClientBody>,
        target: Target,
    ) -> Result<Response<FaultyBody>, BoxError> {
        let key = stale::key(&request);
        match self.plan.remembered(&key) {
            Some(lines) if target.verb == "list" => {
                let answer = reply::read(self.forward(request).await?).await?;
                Ok(reply::replace(answer, lines.concat()))
            }
            Some(lines) if target.streams_list => {
                stale::continuing(&mut request, &lines)
                    .ok_or("a remembered list has no version")?;
                let response = self.forward(request).await?;
                Ok(frames::watch(self.plan.clone(), target, key, lines, response))
            }
            Some(_) | None => self.unharmed(request, target).await,
        }
    }

    async fn forward(&self, request: Request<ClientBody>) -> Result<Response<B>, BoxError> {
        let answer = {
            let mut inner = self.inner.lock().await;
            inner.ready().await.map_err(Into::into)?.call(request)
        };
        answer.await.map_err(Into::into)
    }
}

async fn rewritten(
    request: Request<ClientBody>,
    rewrite: &Rewrite,
) -> Result<Request<ClientBody>, BoxError> {
    let (mut head, body) = request.into_parts();
    let bytes = body.collect().await?.to_bytes();
    let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(Request::from_parts(head, ClientBody::from(bytes.to_vec())));
    };
    rewrite(&mut value);
    head.headers.remove(header::CONTENT_LENGTH);
    Ok(Request::from_parts(head, ClientBody::from(value.to_string().into_bytes())))
}
