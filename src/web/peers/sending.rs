//! The middleware that sends requests on.

use actix_web::{
    Error, HttpMessage, HttpResponse, ResponseError,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{StatusCode, header},
    middleware::Next,
    web::Bytes,
};

use super::{
    client::{Asked, PeerAnswer, PeerError, SENT_ON, Wanted},
    owner::Owner,
    sought::Sought,
};
use crate::web::{standing::Standing, state::WebState, status::Refused};

/// Answers a request, or lets the process answer that works for the parent which it is about.
pub(in crate::web) async fn send_on<B: MessageBody + 'static>(
    state: WebState,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    match answer_of_owner(&state, &mut request).await {
        None => Ok(next.call(request).await?.map_into_boxed_body()),
        Some(Ok(answer)) => Ok(request.into_response(response(answer))),
        Some(Err(error)) => {
            Ok(request.into_response(Refused::Elsewhere(error.to_string()).error_response()))
        }
    }
}

/// The answer of another process; none if this one answers.
async fn answer_of_owner(
    state: &WebState,
    request: &mut ServiceRequest,
) -> Option<Result<PeerAnswer, PeerError>> {
    let peers = state.peers.as_ref()?;
    if request.headers().contains_key(SENT_ON) || state.board.group().is_none() {
        return None;
    }
    let sought = Sought::of(request.match_info().as_str(), &state.board)?;
    let url = match peers.owner(&sought, &state.board).await {
        Ok(Owner::Here) => return None,
        Ok(Owner::There { url: Some(url), .. }) => url,
        Ok(Owner::There { member, url: None }) => return Some(Err(PeerError::NoUrl(member))),
        Err(error) => return Some(Err(error)),
    };
    let asked = asked(request).await;
    Some(peers.ask(&url, asked).await)
}

async fn asked(request: &mut ServiceRequest) -> Asked {
    // Its size was checked.
    let body = request.extract::<Bytes>().await.unwrap_or_default();
    let token = request.extensions().get::<Standing>().map(|standing| standing.token.clone());
    let given = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let value = |name| given(name).and_then(|text| text.parse().ok());
    let path_and_query = request.uri().path_and_query().map(ToString::to_string);
    Asked {
        wanted: Wanted::Answer,
        method: request.method().as_str().parse().unwrap_or_default(),
        path_and_query: path_and_query.unwrap_or_default(),
        accept: value(header::ACCEPT),
        content_type: value(header::CONTENT_TYPE),
        token,
        body,
    }
}

fn response(answer: PeerAnswer) -> HttpResponse {
    let status = StatusCode::from_u16(answer.status.as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = HttpResponse::build(status);
    for (name, value) in
        [(header::CONTENT_TYPE, answer.content_type), (header::LOCATION, answer.location)]
    {
        if let Some(value) = value.as_ref().and_then(|value| value.to_str().ok()) {
            response.insert_header((name, value));
        }
    }
    response.body(answer.body)
}
