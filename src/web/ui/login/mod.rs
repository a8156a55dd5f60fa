//! Login and logout of browsers: a form sends a bearer token, which the API server reviews, and a cookie
//! replaces it from then on. Also the pages that browsers get instead of a `Status` without access.
//!
//! Only these two endpoints accept forms, which any page can send. So a form needs a proof that a page
//! of this server sent it (`origin::is_proven`): no other site can log a browser in as another user.

mod entrance;
mod opening;

use std::net::{IpAddr, Ipv4Addr};

use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    dev::ServiceRequest,
    http::{Method, StatusCode, Uri, header},
    web::{Data, Payload},
};
use secrecy::{ExposeSecret, SecretString};

use self::entrance::Entrance;
use super::frame;
use crate::{
    board::Board,
    web::{
        access::{Access, Target},
        body,
        endpoint::{self, Body, FORM, Form, Parameter},
        logins, origin,
        paths::Paths,
        request_rules::RequestRules,
        state::WebState,
        status::Refused,
        targets,
        visitor::Visitor,
    },
};

pub(in crate::web) use opening::open_session;

pub(super) const TOKEN_FORM: Body = Body {
    media_type: FORM,
    meaning: "the form of the login page; at most 16 KiB",
    fields: &[
        Parameter { name: "token", form: Form::Secret, meaning: "a bearer token" },
        Parameter::text("next", "the path to redirect to"),
    ],
};

pub(super) const NO_FIELDS: Body = Body { media_type: FORM, meaning: "nothing", fields: &[] };

const MAX_FORM: usize = 16 << 10;

const START: &str = "/";

pub(super) async fn show(rules: Data<RequestRules>) -> Result<HttpResponse, Refused> {
    let access = required(&rules)?;
    let login = Entrance::login(None, START, access.token_command());
    Ok(frame::rendered(StatusCode::OK, &login))
}

pub(super) async fn log_in(
    request: HttpRequest,
    payload: Payload,
    rules: Data<RequestRules>,
    paths: Data<Paths>,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let access = required(&rules)?;
    if !origin::is_form(request.headers()) {
        return Err(Refused::NotForm);
    }
    let (token, next) = fields(payload).await?;
    let next = if is_ours(&request, &paths, &next) { next } else { START.to_owned() };
    let from = request.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
    let logged_in = match token {
        Some(token) => {
            let mut targets = targets_of(&next, &paths, &state.board);
            targets.push(Target::path(START));
            open_session(access, token, targets, from).await
        }
        None => Err(Refused::TokenMissing),
    };
    match logged_in {
        Ok((session, user)) => {
            access.logins().end_of(request.headers(), rules.protocol);
            let mut response = redirect(&next, &logins::kept(rules.protocol, &session));
            response.extensions_mut().insert(Visitor {
                user,
                has_session: true,
                is_limited: false,
            });
            Ok(response)
        }
        Err(refused) => Ok(page(&refused, &next, false, access)),
    }
}

pub(super) async fn log_out(
    request: HttpRequest,
    rules: Data<RequestRules>,
) -> Result<HttpResponse, Refused> {
    let access = required(&rules)?;
    if !origin::is_form(request.headers()) {
        return Err(Refused::NotForm);
    }
    access.logins().end_of(request.headers(), rules.protocol);
    Ok(redirect("/ui/login", &logins::forgotten(rules.protocol)))
}

/// The page for a browser without access: the login, or why access is denied.
pub(super) fn denied(refused: &Refused, access: &Access, request: &ServiceRequest) -> HttpResponse {
    let here = request.uri().path_and_query().map_or(START, |here| here.as_str());
    let is_followed = !logins::may_use_cookie(request.method(), request.headers());
    page(refused, here, is_followed, access)
}

fn page(refused: &Refused, next: &str, is_followed: bool, access: &Access) -> HttpResponse {
    let command = access.token_command();
    let entrance = match refused {
        Refused::NotAllowed { .. } => Entrance::closed("Not allowed", refused),
        Refused::ReviewsDown | Refused::ReviewsBusy => {
            Entrance::closed("Not available now", refused)
        }
        Refused::TokenMissing => Entrance::login(None, next, command),
        _ => Entrance::login(Some(refused), next, command),
    };
    let entrance = if is_followed { entrance.with_retry() } else { entrance };
    let mut response = frame::rendered(refused.status_code(), &entrance);
    refused.add_headers(&mut response);
    response
}

fn required(rules: &RequestRules) -> Result<&Access, Refused> {
    rules.access.as_ref().ok_or(Refused::NoLogin)
}

/// The token, if one was entered, and the path to redirect to.
async fn fields(payload: Payload) -> Result<(Option<SecretString>, String), Refused> {
    let text: SecretString = body::text(payload, MAX_FORM).await?.into();
    let (mut token, mut next) = (None, String::new());
    for (name, value) in form_urlencoded::parse(text.expose_secret().as_bytes()) {
        match &*name {
            "token" => {
                let entered = value.trim();
                token = (!entered.is_empty()).then(|| entered.into());
            }
            "next" => next = value.into_owned(),
            _ => {}
        }
    }
    Ok((token, next))
}

/// What a user needs to get this path with its query.
fn targets_of(next: &str, paths: &Paths, board: &Board) -> Vec<Target> {
    let (path, query) = next.split_once('?').unwrap_or((next, ""));
    targets::of(paths.find(&Method::GET, path), path, query, Some(board))
}

fn redirect(path: &str, cookie: &str) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, path))
        .insert_header((header::SET_COOKIE, cookie))
        .content_type("text/html; charset=utf-8")
        .finish()
}

/// Whether a path is one of this server that can be shown, and never of another host.
fn is_ours(request: &HttpRequest, paths: &Paths, path: &str) -> bool {
    let is_local = path.starts_with('/') && !path.starts_with("//");
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let Some(uri) = path.parse::<Uri>().ok().filter(|_| is_local && is_plain) else { return false };
    if let Some(endpoint) = paths.find(&Method::GET, uri.path()) {
        return endpoint.access != endpoint::AccessRule::Public;
    }
    // One of the program's own routes.
    paths.methods_of(uri.path()).is_empty()
        && request.resource_map().match_pattern(uri.path()).is_some()
}
