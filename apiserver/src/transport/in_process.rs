//! In process: a tower service, and kube clients on it. No sockets, and callers are trusted to be who they say.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt;
use kube::client::Body as ClientBody;
use tower::Service;

use crate::{
    rest::{self, Body},
    server::Server,
    status::StatusError,
    users::User,
};

/// The server as a tower service, for `kube::Client::new` and the like.
#[derive(Debug, Clone)]
pub struct InProcess {
    server: Server,
    user_agent: HeaderValue,
    user: Option<User>,
}

impl Server {
    /// A client that talks to this server in process; call it within a tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.client_as("kube-rs")
    }

    /// A client whose requests carry this user agent unless they have one.
    pub fn client_as(&self, user_agent: &str) -> kube::Client {
        kube::Client::new(self.service_as(user_agent), "default")
    }

    /// A client whose requests are those of a user, who may do what the roles allow: see
    /// [`Builder::rbac`](crate::Builder::rbac).
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # use kube::{Api, api::ListParams};
    /// # use operetta_apiserver::{Server, User};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let server = Server::builder().rbac().start();
    /// let pods: Api<Pod> = Api::default_namespaced(server.client_of(User::new("jane")));
    /// let error = pods.list(&ListParams::default()).await.unwrap_err();
    /// assert!(error.to_string().contains("User \"jane\" cannot list resource \"pods\""));
    /// # }
    /// ```
    pub fn client_of(&self, user: User) -> kube::Client {
        kube::Client::new(self.service_as("kube-rs").of(user), "default")
    }

    /// The service under [`client_as`](Self::client_as), for custom layers.
    pub fn service_as(&self, user_agent: &str) -> InProcess {
        let user_agent =
            HeaderValue::from_str(user_agent).unwrap_or(HeaderValue::from_static("kube-rs"));
        InProcess { server: self.clone(), user_agent, user: None }
    }
}

impl InProcess {
    /// The same for a user, and not for the administrator.
    #[must_use]
    pub fn of(self, user: User) -> Self {
        Self { user: Some(user.authenticated()), ..self }
    }
}

impl Service<Request<ClientBody>> for InProcess {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<ClientBody>) -> Self::Future {
        let Self { server, user_agent, user } = self.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            parts.headers.entry(header::USER_AGENT).or_insert(user_agent);
            if let Some(user) = user {
                parts.extensions.insert(user);
            }
            match body.collect().await {
                Ok(body) => {
                    let request = Request::from_parts(parts, body.to_bytes());
                    Ok(server.handle(request).await)
                }
                Err(error) => Ok(broken_body(&error.to_string())),
            }
        })
    }
}

fn broken_body(why: &str) -> Response<Body> {
    let why = format!("the body of the request broke off: {why}");
    rest::refusal(&StatusError::bad_request(why))
}
