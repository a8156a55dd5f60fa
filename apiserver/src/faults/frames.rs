//! The frames of a watch, one line each, as the plan lets them through.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::Response;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody};
use serde_json::{Value, json};
use tower::BoxError;

use super::{
    FaultPlan, FaultyBody, Target,
    fault::{Fault, Point},
    plan::Struck,
    reply::GARBAGE,
    stale,
};

type Chunks = stream::BoxStream<'static, Result<Bytes, BoxError>>;

/// One watch that goes through a plan.
struct Watch {
    plan: FaultPlan,
    target: Target,
    chunks: Chunks,
    buffer: Vec<u8>,
    ready: VecDeque<Bytes>,
    /// What tells its list from others, and the frames of it so far; until it is complete.
    list: Option<(String, Vec<Bytes>)>,
    ended: bool,
}

/// The frames of a watch as the plan lets them through, after `before`.
pub(super) fn watch<B>(
    plan: FaultPlan,
    target: Target,
    key: String,
    before: Vec<Bytes>,
    response: Response<B>,
) -> Response<FaultyBody>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let is_list = target.streams_list && before.is_empty() && plan.remembers_lists();
    response.map(|body| {
        let chunks = chunks(body);
        let list = is_list.then(|| (key, Vec::new()));
        let (buffer, ready) = (Vec::new(), VecDeque::new());
        let watch = Watch { plan, target, chunks, buffer, ready, list, ended: false };
        let frames = stream::unfold(watch, |mut watch| async move {
            let next = watch.next().await?;
            Some((next, watch))
        });
        let before = stream::iter(before.into_iter().map(Ok));
        StreamBody::new(before.chain(frames).map(|chunk| chunk.map(Frame::data))).boxed_unsync()
    })
}

fn chunks<B>(body: B) -> Chunks
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.into_data_stream().map(|chunk| chunk.map_err(Into::into)).boxed()
}

impl Watch {
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(Ok(line));
            }
            if self.ended {
                return None;
            }
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                self.line(line.into()).await;
                continue;
            }
            match self.chunks.next().await {
                Some(Ok(chunk)) => self.buffer.extend_from_slice(&chunk),
                Some(Err(error)) => {
                    self.ended = true;
                    return Some(Err(error));
                }
                None => self.end(),
            }
        }
    }

    /// The server has ended it, perhaps in the middle of a line.
    fn end(&mut self) {
        self.ended = true;
        if !self.buffer.is_empty() {
            self.ready.push_back(std::mem::take(&mut self.buffer).into());
        }
    }

    async fn line(&mut self, line: Bytes) {
        if !self.plan.looks_at_frames(&self.target) {
            return self.ready.push_back(line);
        }
        let frame: Value = serde_json::from_slice(&line).unwrap_or_default();
        self.remember(&line, &frame);
        let target = self.target.for_object(&frame["object"]);
        match self.plan.decide(Point::Frame, &target) {
            Some(struck) => self.strike(&struck, line, frame).await,
            None => self.ready.push_back(line),
        }
    }

    fn remember(&mut self, line: &Bytes, frame: &Value) {
        let Some((_, lines)) = &mut self.list else { return };
        lines.push(line.clone());
        if stale::ends_list(frame)
            && let Some((key, lines)) = self.list.take()
        {
            self.plan.remember(&key, lines);
        }
    }

    async fn strike(&mut self, struck: &Struck, line: Bytes, mut frame: Value) {
        let strike = struck.strike();
        match &struck.rule.fault {
            Fault::CloseWatch => self.ended = true,
            Fault::CutFrame => {
                self.ended = true;
                self.ready.push_back(line.slice(..line.len() / 2));
            }
            Fault::ExpireWatch => {
                self.ended = true;
                self.ready.push_back(expired());
            }
            Fault::GarbleReply => self.ready.push_back([GARBAGE, b"\n"].concat().into()),
            Fault::RewriteObjects(rewrite) => {
                rewrite(&mut frame["object"]);
                self.ready.push_back(line_of(
                    frame["type"].as_str().unwrap_or_default(),
                    &frame["object"],
                ));
            }
            Fault::HoldFrames => {
                drop(strike);
                struck.released().await;
                self.ready.push_back(line);
            }
            _ => self.ready.push_back(line),
        }
    }
}

fn expired() -> Bytes {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version: 1 (2)", "reason": "Expired", "code": 410,
    });
    line_of("ERROR", &status)
}

/// Clients may rely on the type before the object.
fn line_of(ty: &str, object: &Value) -> Bytes {
    format!("{{\"type\":\"{ty}\",\"object\":{object}}}\n").into()
}
