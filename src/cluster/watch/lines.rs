//! Opens one connection of a watch and reads it line by line.

use futures::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, TryStreamExt};
use http_body_util::BodyExt;

use super::{
    super::{WatchNote, api::unreachable},
    Loop, SHORT_STREAM,
};
use crate::{object::ResourceVersion, reply::ApiError};

/// The maximum length of a line in bytes: an object has at most 3 MiB.
const MAX_LINE: u64 = 16 << 20;

impl<N: Fn(WatchNote) + Send> Loop<N> {
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

    /// Waits for a moment after a failure. A stream that stays open and silent works again: for a type
    /// without changes only the next bookmark would show it. A line that comes at once may be the error
    /// that the version is too old.
    pub(super) async fn confirm_recovery<R: AsyncBufRead + Unpin>(
        &mut self,
        lines: &mut R,
    ) -> Result<(), ApiError> {
        match tokio::time::timeout(SHORT_STREAM, lines.fill_buf()).await {
            Ok(Ok(_)) => {}
            // The error is returned once: the next read would see the end.
            Ok(Err(error)) => return Err(unreachable(&self.name(), error)),
            Err(_) => {
                self.reset_failures();
                self.alive();
            }
        }
        Ok(())
    }

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
