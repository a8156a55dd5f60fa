//! `/api/v1/events`: changes as server-sent events.
//!
//! A stream ends with the session, the token or the permission of its reader. A reader that is too slow receives a last
//! event and is disconnected; browsers reconnect by themselves. Missed changes are not sent again: readers read the state
//! again.

mod filter;
mod frame;

use std::{convert::Infallible, time::Duration};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::{Method, header::ContentEncoding},
    web::{Bytes, BytesMut, Data, Query},
};
use futures::{Stream, StreamExt, future, stream};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

pub(super) use self::filter::PARAMETERS;
use self::filter::{EventQuery, Filter};
use super::{standing::Standing, state::WebState, status::Refused};
use crate::board::{Change, NoNotice, Subscription};

struct Reader {
    subscription: Subscription,
    filter: Filter,
    beats: watch::Receiver<()>,
    /// The last packet was full.
    has_more: bool,
    heartbeat_at: Instant,
    is_over: bool,
}

pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// Proxies close idle connections.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The limit of notices in one packet.
const MAX_BATCH: usize = 512;

pub(super) async fn stream(
    request: HttpRequest,
    query: Query<EventQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let filter = Filter::new(query.into_inner(), &state.board)?;
    let mut response = HttpResponse::Ok();
    response.content_type(EVENT_STREAM);
    // Compression and buffering proxies would delay events.
    response.insert_header(ContentEncoding::Identity).insert_header(("X-Accel-Buffering", "no"));
    if request.method() == Method::HEAD {
        return Ok(response.finish());
    }
    let subscription = state.board.subscribe().map_err(Refused::TooManyListeners)?;
    // Checked after the subscription: a later subscriber would not receive the end.
    if state.board.is_stopping() {
        return Err(Refused::Stopping);
    }
    let beats = state.pulse.beats(&state.board);
    let (heartbeat_at, has_more, is_over) = (Instant::now() + HEARTBEAT, false, false);
    let reader = Reader { subscription, filter, beats, has_more, heartbeat_at, is_over };
    let standing = request.extensions().get::<Standing>().cloned();
    let lost = async {
        match standing {
            Some(standing) => standing.lost().await,
            None => future::pending().await,
        }
    };
    Ok(response.streaming(packets(reader).take_until(Box::pin(lost))))
}

fn packets(reader: Reader) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let following = stream::unfold(reader, |mut reader| async {
        reader.next().await.map(|packet| (packet, reader))
    });
    stream::iter([frame::hello()]).chain(following).map(Ok)
}

impl Reader {
    /// The next packet; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        while !self.is_over {
            let beat = async { self.has_more || self.beats.changed().await.is_ok() };
            let beat = timeout_at(self.heartbeat_at, beat).await;
            self.is_over = beat == Ok(false);
            let mut packet = self.gather();
            // Filtered changes do not replace a heartbeat.
            if packet.is_empty() && !self.is_over && Instant::now() >= self.heartbeat_at {
                packet = frame::heartbeat();
            }
            if !packet.is_empty() {
                self.heartbeat_at = Instant::now() + HEARTBEAT;
                return Some(packet);
            }
        }
        None
    }

    fn gather(&mut self) -> Bytes {
        let mut packet = BytesMut::new();
        for _ in 0..MAX_BATCH {
            self.has_more = self.take(&mut packet);
            if !self.has_more {
                break;
            }
        }
        packet.freeze()
    }

    /// Whether there may be more.
    fn take(&mut self, packet: &mut BytesMut) -> bool {
        match self.subscription.try_next() {
            Ok(notice) => {
                self.is_over = matches!(notice.change, Change::Stopping);
                if self.filter.wants(&notice.change) {
                    packet.extend_from_slice(&notice.rendered(frame::of));
                }
            }
            Err(NoNotice::TooSlow { missed }) => {
                packet.extend_from_slice(&frame::too_slow(missed));
                self.is_over = true;
            }
            Err(NoNotice::Ended) => self.is_over = true,
            Err(NoNotice::Empty) => return false,
        }
        !self.is_over
    }
}
