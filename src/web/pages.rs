//! What browsers get, as a value: the page of the feature `dashboard`, or without it a text.

use actix_web::{HttpResponse, dev::ServiceRequest};

use super::{
    accept,
    access::Access,
    endpoint::{Endpoint, Parameter},
    origin,
    status::Refused,
};

/// Routes and answers for browsers.
pub(super) struct Pages {
    /// `/` and what is below `/ui`, sorted by path.
    pub(super) endpoints: &'static [Endpoint],
    /// The parameters in their paths.
    pub(super) names: &'static [Parameter],
    /// The answer without access.
    pub(super) denied: fn(&Refused, &Access, &ServiceRequest) -> HttpResponse,
}

impl Pages {
    /// The answer for a browser without access, in place of a `Status`.
    pub(super) fn instead_of(
        &self,
        refused: &Refused,
        access: &Access,
        request: &ServiceRequest,
    ) -> Option<HttpResponse> {
        let is_of_access = matches!(
            refused,
            Refused::TokenMissing
                | Refused::TokenInvalid
                | Refused::NotAllowed { .. }
                | Refused::ReviewsDown
                | Refused::ReviewsBusy
        );
        let is_browser =
            origin::only_reads(request.method()) && accept::is_browser(request.headers());
        (is_of_access && is_browser).then(|| (self.denied)(refused, access, request))
    }
}
