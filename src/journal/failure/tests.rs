//! The schedule and the message of each kind of failure.

use super::*;
use crate::reply::{ApiError, Refusal};

fn refused(code: u16, after: Option<u64>, message: &str) -> RequestFailure {
    let refusal = Box::new(Refusal {
        message: message.to_owned(),
        retry_after: after.map(Duration::from_secs),
        ..Refusal::answered(code)
    });
    let request = "patch /x".to_owned();
    RequestFailure::new("x".to_owned(), ApiError::Refused { request, refusal })
}

fn api(codes: &[(u16, Option<u64>)]) -> Failure {
    Failure::Api(codes.iter().map(|(code, after)| refused(*code, *after, "")).collect())
}

fn unanswered(error: ApiError) -> Failure {
    Failure::Api(vec![RequestFailure::new("x".to_owned(), error)])
}

fn handler(permanent: bool, retry_after: Option<u64>) -> Failure {
    let retry_after = retry_after.map(Duration::from_secs);
    Failure::Handler { message: Quoted::new(""), permanent, retry_after }
}

#[test]
fn the_schedule_follows_the_kind_of_failure() {
    use Finished::{Failed, FailedForGood};
    let longest = Duration::from_mins(10);
    let until = |seconds| Finished::FailedUntil { after: Duration::from_secs(seconds) };
    let throttled = |seconds| Finished::Throttled { after: Duration::from_secs(seconds) };
    let request = || "patch /x".to_owned();
    let for_others =
        Finished::FailedUntilGone { is_passing: true, at_most: Duration::from_mins(1) };
    for (failure, expected) in [
        // Answers of the server: transient, throttling, or permanent.
        (api(&[(401, None)]), Failed),
        // Who grants a permission, or raises a quota, tells nobody.
        (api(&[(403, None)]), for_others),
        (api(&[(404, None)]), Failed),
        (api(&[(409, None)]), Failed),
        (api(&[(410, None)]), Failed),
        (api(&[(429, None)]), Failed),
        (api(&[(500, None)]), Failed),
        (api(&[(503, None)]), Failed),
        (api(&[(429, Some(3))]), throttled(3)),
        (api(&[(503, Some(3))]), throttled(3)),
        (api(&[(504, Some(3))]), throttled(3)),
        (api(&[(500, Some(3))]), throttled(3)),
        (api(&[(403, Some(3))]), for_others),
        (api(&[(413, None)]), until(600)),
        (api(&[(422, None)]), until(600)),
        // The longest throttling counts, and one transient failure makes a retry useful.
        (api(&[(422, None), (500, None)]), Failed),
        (api(&[(429, Some(3)), (500, None), (429, Some(7)), (422, None)]), throttled(7)),
        // No answer.
        (unanswered(ApiError::TimedOut { request: request(), after: longest }), Failed),
        (unanswered(ApiError::Malformed { request: request(), why: String::new() }), Failed),
        // The handler.
        (handler(false, None), Failed),
        (handler(false, Some(3)), until(3)),
        (handler(true, None), FailedForGood),
        (handler(true, Some(3)), FailedForGood),
        (Failure::Unavailable(String::new()), until(600)),
        (Failure::Panicked(Quoted::new("")), Failed),
        (Failure::HandlerTimeout { after: longest, hangs: true }, Failed),
        (Failure::Refused(Vec::new()), FailedForGood),
        (
            Failure::Foreign(Vec::new()),
            Finished::FailedUntilGone { is_passing: true, at_most: LOOK_AGAIN },
        ),
    ] {
        assert_eq!(failure.finished(longest), expected, "{failure:?}");
        let is_final = failure.outlook().contains("not retried");
        assert_eq!(is_final, expected == FailedForGood, "{failure:?}");
        assert_eq!(failure.outlook().is_empty(), !failure.is_stalled(), "{failure:?}");
    }
}

#[test]
fn the_permission_that_an_admission_plugin_does_not_name_is_named() {
    let shown = |message: &str| refused(403, None, message).shown(&Redactor::Nothing).to_string();
    let blocks = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you \
                  can't set finalizers on: , <nil>";
    assert!(shown(blocks).ends_with("update on the `/finalizers` of the parents"));
    assert!(!shown("cannot patch pods").contains("missing permission"));
}
