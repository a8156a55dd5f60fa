//! `/api/v1/events`: changes as server-sent events.
//!
//! A stream ends with the session, the token or the permission of its reader. A reader that is too slow receives a last
//! event and is disconnected; browsers reconnect by themselves. Missed changes are not sent again: readers read the state
//! again.

mod filter;
mod frame;

use std::{convert::Infallible, sync::Arc, time::Duration};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::{Method, header::ContentEncoding},
    web::{Bytes, BytesMut, Data, Query},
};
use futures::{Stream, StreamExt, future, stream};
use tokio::time::{Instant, sleep_until, timeout_at};

pub(super) use self::filter::PARAMETERS;
use self::filter::{EventQuery, Filter};
use super::{standing::Standing, state::WebState, status::Refused};
use crate::board::{Change, NoNotice, Notice, Subscription};

struct Reader {
    subscription: Subscription,
    filter: Filter,
    /// Nothing is sent earlier.
    rests_until: Instant,
    heartbeat_at: Instant,
    is_over: bool,
}

pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The interval of batches: a burst costs a reader few packets, and writers do not wake a thousand
/// readers for each change.
const REST: Duration = Duration::from_millis(100);
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
    let now = Instant::now();
    let (rests_until, heartbeat_at, is_over) = (now, now + HEARTBEAT, false);
    let reader = Reader { subscription, filter, rests_until, heartbeat_at, is_over };
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
            sleep_until(self.rests_until).await;
            let first = timeout_at(self.heartbeat_at, self.subscription.next()).await;
            let mut packet = first.map_or_else(|_| Bytes::new(), |first| self.gather(first));
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

    fn gather(&mut self, first: Result<Arc<Notice>, NoNotice>) -> Bytes {
        let (mut packet, mut next) = (BytesMut::new(), first);
        for taken in 1.. {
            self.take(next, &mut packet);
            if self.is_over || taken == MAX_BATCH {
                break;
            }
            next = self.subscription.try_next();
            if matches!(next, Err(NoNotice::Empty)) {
                self.rests_until = Instant::now() + REST;
                break;
            }
        }
        packet.freeze()
    }

    fn take(&mut self, next: Result<Arc<Notice>, NoNotice>, packet: &mut BytesMut) {
        match next {
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
            Err(NoNotice::Empty) => {}
        }
    }
}
