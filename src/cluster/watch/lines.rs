//! One connection of a watch: how it is opened, and read line by line.

use futures::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, TryStreamExt};
use http_body_util::BodyExt;

use super::{
    super::{WatchNote, api::unreachable},
    Loop, SHORT_WATCH,
};
use crate::{object::ResourceVersion, reply::ApiError};

/// The longest line that is read, in bytes: an object has at most 3 MiB.
const MAX_LINE: u64 = 16 << 20;

impl<N: Fn(WatchNote) + Send> Loop<N> {
    /// From a version, or from a streamed list.
    pub(super) async fn open_watch(
        &self,
        from: Option<&ResourceVersion>,
    ) -> Result<impl AsyncBufRead + Unpin + use<N>, ApiError> {
        let lasting = self.cluster.settings().timeouts.watch.as_secs();
        let request = self
            .spec
            .request("watch")
            .with_query("watch", "1")
            .with_query("allowWatchBookmarks", "true")
            .with_query("timeoutSeconds", lasting.to_string());
        let request = match from {
            Some(version) => request.with_query("resourceVersion", version.to_string()),
            None => request
                .with_query("sendInitialEvents", "true")
                .with_query("resourceVersionMatch", "NotOlderThan"),
        };
        let opening = self.cluster.open(request);
        let response = self.within_silence(opening).await??;
        self.opened();
        let body = response.into_body().into_data_stream().map_err(std::io::Error::other);
        Ok(Box::pin(body).into_async_read())
    }

    /// Waits a moment for what comes after a failure. If nothing does, what failed works again: of a
    /// quiet type that would show only with the next bookmark. What comes at once may as well be that
    /// the version is too old.
    pub(super) async fn see_it_last<R: AsyncBufRead + Unpin>(
        &mut self,
        lines: &mut R,
    ) -> Result<(), ApiError> {
        match tokio::time::timeout(SHORT_WATCH, lines.fill_buf()).await {
            Ok(Ok(_)) => {}
            // It is told once: the next read would see the end.
            Ok(Err(error)) => return Err(unreachable(&self.name(), error)),
            Err(_) => {
                self.worked();
                self.alive();
            }
        }
        Ok(())
    }

    /// Reads one line; `false` at the end of the stream.
    pub(super) async fn next_line<R: AsyncBufRead + Unpin>(
        &self,
        lines: &mut R,
        line: &mut Vec<u8>,
    ) -> Result<bool, ApiError> {
        line.clear();
        let mut limited = lines.take(MAX_LINE);
        let reading = limited.read_until(b'\n', line);
        let read = self.within_silence(reading).await?;
        let read = read.map_err(|error| unreachable(&self.name(), error))?;
        if read as u64 == MAX_LINE {
            return Err(self.malformed("a line of the watch is longer than 16 MiB"));
        }
        Ok(read > 0)
    }

    async fn within_silence<F: Future>(&self, what: F) -> Result<F::Output, ApiError> {
        let after = self.cluster.settings().timeouts.silence;
        let request = || self.name();
        let timed_out = |_| ApiError::TimedOut { request: request(), after };
        tokio::time::timeout(after, what).await.map_err(timed_out)
    }
}
