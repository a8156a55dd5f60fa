//! `/api/v1/events`: what changes, as server-sent events.
//!
//! Whoever reads too slowly is told so and loses the connection; the browser comes back by itself.
//! Nothing is repeated for those who come back: they read the board anew.

mod filter;
mod frame;

use std::{convert::Infallible, sync::Arc, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, header::ContentEncoding},
    web::{Bytes, BytesMut, Data, Query},
};
use futures::{Stream, StreamExt, stream};
use tokio::time::{Instant, sleep_until, timeout_at};

pub(super) use self::filter::PARAMETERS;
use self::filter::{EventQuery, Filter};
use super::{state::WebState, status::Refused};
use crate::board::{Change, Notice, Silence, Subscription};

/// One reader.
struct Reader {
    subscription: Subscription,
    filter: Filter,
    /// Nothing is sent before.
    rests_until: Instant,
    /// A sign of life is due.
    heartbeat_at: Instant,
    is_over: bool,
}

pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// A reader is given what has gathered so often: a burst costs it few packets, and those who act
/// need not wake a thousand readers for each change.
const REST: Duration = Duration::from_millis(100);
/// Proxies close connections on which nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// As many notices go into one packet.
const MAX_BATCH: usize = 512;

pub(super) async fn stream(
    request: HttpRequest,
    query: Query<EventQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let filter = Filter::new(query.into_inner(), &state.board)?;
    let mut response = HttpResponse::Ok();
    response.content_type(EVENT_STREAM);
    // Compression would hold events back, and so would a proxy that buffers.
    response.insert_header(ContentEncoding::Identity).insert_header(("X-Accel-Buffering", "no"));
    if request.method() == Method::HEAD {
        return Ok(response.finish());
    }
    let subscription = state.board.subscribe().map_err(Refused::TooManyListeners)?;
    // After the subscription: who subscribes later would not be told of the end.
    if state.board.is_stopping() {
        return Err(Refused::Stopping);
    }
    Ok(response.streaming(packets(Reader::new(subscription, filter))))
}

fn packets(reader: Reader) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let following = stream::unfold(reader, |mut reader| async {
        reader.next().await.map(|packet| (packet, reader))
    });
    stream::iter([frame::hello()]).chain(following).map(Ok)
}

impl Reader {
    fn new(subscription: Subscription, filter: Filter) -> Self {
        let now = Instant::now();
        let (rests_until, heartbeat_at, is_over) = (now, now + HEARTBEAT, false);
        Self { subscription, filter, rests_until, heartbeat_at, is_over }
    }

    /// What to send next; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        while !self.is_over {
            sleep_until(self.rests_until).await;
            let first = timeout_at(self.heartbeat_at, self.subscription.next()).await;
            let mut packet = first.map_or_else(|_| Bytes::new(), |first| self.gather(first));
            // What others do is no sign of life to who does not want to hear of it.
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

    /// All that is there by now, beginning with this.
    fn gather(&mut self, first: Result<Arc<Notice>, Silence>) -> Bytes {
        let (mut packet, mut next) = (BytesMut::new(), first);
        for taken in 1.. {
            self.take(next, &mut packet);
            if self.is_over || taken == MAX_BATCH {
                break;
            }
            next = self.subscription.try_next();
            if matches!(next, Err(Silence::Nothing)) {
                self.rests_until = Instant::now() + REST;
                break;
            }
        }
        packet.freeze()
    }

    fn take(&mut self, next: Result<Arc<Notice>, Silence>, packet: &mut BytesMut) {
        match next {
            Ok(notice) => {
                self.is_over = matches!(notice.change, Change::Stopping);
                if self.filter.wants(&notice.change) {
                    packet.extend_from_slice(&notice.rendered(frame::of));
                }
            }
            Err(Silence::TooSlow { missed }) => {
                packet.extend_from_slice(&frame::too_slow(missed));
                self.is_over = true;
            }
            Err(Silence::Ended) => self.is_over = true,
            Err(Silence::Nothing) => {}
        }
    }
}
