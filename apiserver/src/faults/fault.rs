//! The faults that can be injected.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::Refusal;

/// Changes a JSON value on its way.
pub type Rewrite = Arc<dyn Fn(&mut Value) + Send + Sync>;

/// A fault of a request, its answer, or one frame of a watch.
#[derive(Clone)]
#[non_exhaustive]
pub enum Fault {
    /// The request is refused before it takes effect.
    Refuse(Refusal),
    /// The request does not reach the server until it is released.
    HoldRequest,
    /// The request takes effect, and the connection breaks before the answer.
    LoseReply,
    /// The request takes effect, and no answer comes; the connection breaks when it is released.
    SwallowReply,
    /// The request takes effect, and its answer comes when it is released.
    HoldReply,
    /// The request takes effect, and the connection breaks in the middle of the answer.
    CutReply,
    /// The request takes effect, and the answer, or a frame of a watch, is no JSON.
    GarbleReply,
    /// A list, or the list that begins a watch, is one that was answered before: the plan must
    /// [remember lists](super::FaultPlan::remember_lists). A watch then continues from that version.
    StaleList,
    /// The body of the request is another one, as if an admission policy had changed it.
    RewriteRequest(Rewrite),
    /// Objects of the answer, or in frames of a watch, are other ones.
    RewriteObjects(Rewrite),
    /// The watch ends cleanly before the frame.
    CloseWatch,
    /// The watch ends inside the frame, without an error of the connection.
    CutFrame,
    /// The watch ends with the error 410 instead of the frame.
    ExpireWatch,
    /// The frame, and all that follow it, come when it is released; until then there is silence.
    HoldFrames,
}

/// Where on the way of a request a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    Request,
    Frame,
}

impl Fault {
    /// Refused with a status code: see [`Refusal::new`].
    pub fn refuse(code: u16) -> Self {
        Self::Refuse(Refusal::new(code))
    }

    /// Refused with 429 and `Retry-After`.
    pub fn busy(seconds: u64) -> Self {
        Self::Refuse(Refusal::new(429).retry_after(seconds))
    }

    /// See [`Fault::RewriteRequest`].
    pub fn rewrite_request(rewrite: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self::RewriteRequest(Arc::new(rewrite))
    }

    /// See [`Fault::RewriteObjects`].
    pub fn rewrite_objects(rewrite: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self::RewriteObjects(Arc::new(rewrite))
    }

    /// Whether it can strike here, for a request with this verb.
    pub(super) fn strikes_at(&self, point: Point, verb: &str) -> bool {
        let is_watch = verb == "watch";
        match self {
            Self::CloseWatch | Self::CutFrame | Self::ExpireWatch | Self::HoldFrames => {
                point == Point::Frame
            }
            Self::RewriteObjects(_) | Self::GarbleReply => (point == Point::Frame) == is_watch,
            Self::CutReply => point == Point::Request && !is_watch,
            Self::Refuse(_)
            | Self::HoldRequest
            | Self::LoseReply
            | Self::SwallowReply
            | Self::HoldReply
            | Self::StaleList
            | Self::RewriteRequest(_) => point == Point::Request,
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refuse(refusal) => return write!(f, "Refuse({})", refusal.code()),
            Self::HoldRequest => "HoldRequest",
            Self::LoseReply => "LoseReply",
            Self::SwallowReply => "SwallowReply",
            Self::HoldReply => "HoldReply",
            Self::CutReply => "CutReply",
            Self::GarbleReply => "GarbleReply",
            Self::StaleList => "StaleList",
            Self::RewriteRequest(_) => "RewriteRequest",
            Self::RewriteObjects(_) => "RewriteObjects",
            Self::CloseWatch => "CloseWatch",
            Self::CutFrame => "CutFrame",
            Self::ExpireWatch => "ExpireWatch",
            Self::HoldFrames => "HoldFrames",
        })
    }
}
