//! Asks the other members for their shares of an answer.

use std::future::{Ready, ready};

use actix_web::{
    Error, FromRequest, HttpMessage, HttpRequest, HttpResponse,
    dev::Payload,
    web::{Bytes, Data},
};
use futures::{StreamExt, stream};
use http::{HeaderValue, Method};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    missing::{Missing, NoShare},
    share::{Order, Share, Shown},
};
use crate::{
    board::Group,
    election::Standing as Said,
    object::OneLine,
    web::{
        peers::{Asked, Peers, SENT_ON, Wanted},
        standing::Standing,
        state::WebState,
    },
};

/// The other members of the group, for one request, from which it is extracted.
#[derive(Debug)]
pub(in crate::web) struct Members {
    /// None where this process answers for itself.
    others: Option<Others>,
    is_asked_by_member: bool,
}

/// What the other members answered.
#[derive(Debug)]
pub(in crate::web) struct Answers<T> {
    /// Each with the name of the member.
    pub(in crate::web) shares: Vec<(String, T)>,
    pub(in crate::web) missing: Vec<Missing>,
    /// Whether the parents are shared with others.
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(in crate::web) is_shared: bool,
}

#[cfg(feature = "dashboard")]
impl<T> Answers<T> {
    /// The shares alone.
    pub(in crate::web) fn into_shares(self) -> Vec<T> {
        self.shares.into_iter().map(|(_, share)| share).collect()
    }
}

struct Others {
    peers: Peers,
    group: Group,
    method: Method,
    path_and_query: String,
    token: Option<SecretString>,
}

/// How many members are asked at once.
const AT_ONCE: usize = 16;

impl Members {
    fn of(request: &HttpRequest) -> Self {
        let sent_on = request.headers().get(SENT_ON);
        let is_asked_by_member = sent_on.is_some_and(|value| value == Wanted::Share.name());
        // An answer without a body shows nothing of others.
        let is_alone = sent_on.is_some() || request.method() == "HEAD";
        let state = request.app_data::<Data<WebState>>().filter(|_| !is_alone);
        Self { others: state.and_then(|state| Others::of(state, request)), is_asked_by_member }
    }

    /// The answer to another member, if it asks: the share of this process.
    pub(in crate::web) fn asks(&self, share: &impl serde::Serialize) -> Option<HttpResponse> {
        self.is_asked_by_member.then(|| HttpResponse::Ok().json(share))
    }

    /// The same of a share that costs something.
    #[cfg(feature = "dashboard")]
    pub(in crate::web) fn asks_for<T: serde::Serialize>(
        &self,
        share: impl FnOnce() -> T,
    ) -> Option<HttpResponse> {
        self.is_asked_by_member.then(|| HttpResponse::Ok().json(share()))
    }

    /// The shares of the others in the answer to the request. Their order is that of their names.
    pub(in crate::web) async fn shares<T: DeserializeOwned>(&self) -> Answers<T> {
        let Some(others) = &self.others else {
            return Answers { shares: Vec::new(), missing: Vec::new(), is_shared: false };
        };
        let answers = others.each(Wanted::Share, &Bytes::new()).await;
        let read = answers.into_iter().map(|(member, answer)| {
            let share = answer.and_then(|body| Ok(serde_json::from_slice(&body)?));
            (member, share)
        });
        let (mut shares, mut missing) = (Vec::new(), Vec::new());
        for (member, share) in read {
            match share {
                Ok(share) => shares.push((member, share)),
                Err(why) => missing.push(Missing::new(&member, &why)),
            }
        }
        missing.extend(Missing::of_nobody(&others.group));
        Answers { shares, missing, is_shared: true }
    }

    /// The page of a list of all members, as programs read it.
    pub(in crate::web) async fn whole<T>(
        &self,
        own: Share<T>,
        order: Order,
    ) -> (Share<Shown<T>>, Vec<Missing>) {
        let Answers { shares, missing, .. } = self.shares::<Share<Value>>().await;
        let others = shares.into_iter().map(|(_, share)| share.map(Shown::Other));
        (own.map(Shown::Own).with(others, order), missing)
    }

    /// Sends the command of the request with its body to the others, and returns those that did not execute it.
    pub(in crate::web) async fn command(&self, body: &Bytes) -> Vec<Missing> {
        let Some(others) = &self.others else { return Vec::new() };
        let answers = others.each(Wanted::Answer, body).await.into_iter();
        answers.filter_map(|(member, it)| Some(Missing::new(&member, &it.err()?))).collect()
    }
}

impl FromRequest for Members {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::of(request)))
    }
}

impl Others {
    fn of(state: &WebState, request: &HttpRequest) -> Option<Self> {
        let (peers, group) = (state.peers.clone()?, state.board.group()?);
        let path_and_query = request.uri().path_and_query().map(ToString::to_string);
        let token = request.extensions().get::<Standing>().map(|standing| standing.token.clone());
        Some(Self {
            peers,
            group,
            method: request.method().as_str().parse().unwrap_or_default(),
            path_and_query: path_and_query.unwrap_or_default(),
            token,
        })
    }

    /// The answers of the members. One without a bucket is asked for no share; commands go to all.
    async fn each(&self, wanted: Wanted, body: &Bytes) -> Vec<(String, Result<Bytes, NoShare>)> {
        let is_concerned = |said: &Option<Said>| {
            wanted == Wanted::Answer || said.as_ref().is_none_or(|it| !it.holds.is_empty())
        };
        let others = self.group.others.iter().filter(|(_, said)| is_concerned(said));
        let asking = others.map(|(member, said)| async move {
            (member.clone(), self.ask(said.as_ref(), wanted, body.clone()).await)
        });
        let asking: Vec<_> = asking.collect();
        let mut answers: Vec<_> = stream::iter(asking).buffer_unordered(AT_ONCE).collect().await;
        answers.sort_by(|(one, _), (other, _)| one.cmp(other));
        answers
    }

    async fn ask(
        &self,
        said: Option<&Said>,
        wanted: Wanted,
        body: Bytes,
    ) -> Result<Bytes, NoShare> {
        let url = said.ok_or(NoShare::Edited)?.url.as_deref().ok_or(NoShare::NoUrl)?;
        let answer = self.peers.ask(url, self.asked(wanted, body)).await?;
        if answer.status.is_success() {
            return Ok(answer.body);
        }
        let status: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let message = OneLine(status["message"].as_str().unwrap_or_default()).to_string();
        Err(NoShare::Refused { code: answer.status.as_u16(), message })
    }

    fn asked(&self, wanted: Wanted, body: Bytes) -> Asked {
        let json = HeaderValue::from_static("application/json");
        Asked {
            wanted,
            method: self.method.clone(),
            path_and_query: self.path_and_query.clone(),
            accept: Some(json.clone()),
            content_type: Some(json),
            token: self.token.clone(),
            body,
        }
    }
}

impl std::fmt::Debug for Others {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Others").field("group", &self.group).finish_non_exhaustive()
    }
}
