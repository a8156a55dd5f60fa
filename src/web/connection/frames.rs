//! Counts the HTTP/2 frames that a client sends: pure. Their contents are not read.
//!
//! The HTTP/2 library limits the memory of frames (it answers one PING or SETTINGS before it reads the
//! next), the number of resets, and the headers of a request to 16 MiB. It does not limit frames that
//! belong to no request or answer, each of which costs time.

use std::time::Instant;

/// The burst of frames without content.
const AT_ONCE: u32 = 1000;
/// How many more are allowed each second. A client that measures the latency sends about ten.
const PER_SECOND: u32 = 20;
/// The limit of the compressed headers of one request; the guard allows a third of it.
const MAX_HEADERS: usize = 64 << 10;
const PREFACE: usize = 24;
const HEAD: usize = 9;
// The kinds of frames that carry something, and the rest of headers, with their numbers in RFC 9113.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// The flag of the last frame with headers.
const END_HEADERS: u8 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flood {
    #[error("the client sent too many HTTP/2 frames without content")]
    Frames,
    #[error("the headers of an HTTP/2 request are too large")]
    Headers,
}

#[derive(Debug)]
pub(super) struct Frames {
    /// How many of the next bytes belong to no frame header.
    skip: usize,
    /// The received part of the next frame header.
    head: Vec<u8>,
    /// The size of the headers in progress.
    headers: usize,
    /// How many frames without content are allowed now.
    spare: u32,
    refilled: Instant,
}

impl Frames {
    pub(super) fn new(now: Instant) -> Self {
        let head = Vec::with_capacity(HEAD);
        Self { skip: PREFACE, head, headers: 0, spare: AT_ONCE, refilled: now }
    }

    /// Counts received bytes.
    ///
    /// # Errors
    /// When a limit is exceeded.
    pub(super) fn read(&mut self, mut bytes: &[u8], now: Instant) -> Result<(), Flood> {
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            let (part, rest) = bytes[skipped..].split_at(self.missing().min(bytes.len() - skipped));
            self.head.extend_from_slice(part);
            let &[a, b, c, kind, flags, _, _, _, _] = self.head.as_slice() else { return Ok(()) };
            self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
            self.head.clear();
            self.count(kind, self.skip, flags, now)?;
            bytes = rest;
        }
    }

    /// How much of a frame header is missing; zero while a payload is skipped.
    fn missing(&self) -> usize {
        if self.skip > 0 { 0 } else { HEAD - self.head.len() }
    }

    fn count(&mut self, kind: u8, length: usize, flags: u8, now: Instant) -> Result<(), Flood> {
        match kind {
            HEADERS => self.headers = length,
            CONTINUATION => self.headers += length,
            _ => {}
        }
        if self.headers > MAX_HEADERS {
            return Err(Flood::Headers);
        }
        if matches!(kind, HEADERS | CONTINUATION) && flags & END_HEADERS != 0 {
            self.headers = 0;
        }
        let carries = match kind {
            DATA => length > 0,
            // A request, and the demand for more of an answer.
            HEADERS | WINDOW_UPDATE => true,
            // Also PRIORITY, `RST_STREAM`, SETTINGS, PING, and unknown kinds.
            _ => false,
        };
        if carries { Ok(()) } else { self.spend(now) }
    }

    fn spend(&mut self, now: Instant) -> Result<(), Flood> {
        let seconds = now.saturating_duration_since(self.refilled).as_secs();
        if seconds > 0 {
            let more = u32::try_from(seconds).unwrap_or(u32::MAX).saturating_mul(PER_SECOND);
            self.spare = self.spare.saturating_add(more).min(AT_ONCE);
            self.refilled = now;
        }
        self.spare = self.spare.checked_sub(1).ok_or(Flood::Frames)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PING: u8 = 6;

    fn frame(kind: u8, flags: u8, length: u16) -> Vec<u8> {
        let [high, low] = length.to_be_bytes();
        let head = [0, high, low, kind, flags, 0, 0, 0, 1];
        head.into_iter().chain(vec![0; usize::from(length)]).collect()
    }

    /// A client that has sent its preface.
    fn begun(now: Instant) -> Frames {
        let mut frames = Frames::new(now);
        frames.read(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", now).unwrap();
        frames
    }

    fn send(frames: &mut Frames, frame: &[u8], times: u32, now: Instant) -> Result<(), Flood> {
        (0..times).try_for_each(|_| frames.read(frame, now))
    }

    #[test]
    fn frames_without_content_are_limited_per_second() {
        for (kind, length) in [(2, 5), (3, 4), (4, 0), (PING, 8), (0, 0), (77, 1)] {
            let now = Instant::now();
            let (mut frames, frame) = (begun(now), frame(kind, 0, length));
            assert_eq!(send(&mut frames, &frame, AT_ONCE, now), Ok(()), "kind {kind}");
            let later = now + Duration::from_secs(1);
            assert_eq!(send(&mut frames, &frame, PER_SECOND, later), Ok(()));
            assert_eq!(frames.read(&frame, later), Err(Flood::Frames), "kind {kind}");
        }
    }

    #[test]
    fn requests_bodies_and_window_updates_are_not_limited() {
        let now = Instant::now();
        let mut frames = begun(now);
        for (kind, flags, length) in [(1, 5, 30), (0, 0, 100), (8, 0, 4)] {
            assert_eq!(send(&mut frames, &frame(kind, flags, length), 9999, now), Ok(()));
        }
    }

    #[test]
    fn endless_headers_are_refused() {
        let now = Instant::now();
        let mut frames = begun(now);
        for _ in 0..9 {
            frames.read(&frame(1, 0, 16 << 10), now).unwrap();
            assert_eq!(send(&mut frames, &frame(9, 0, 8 << 10), 5, now), Ok(()));
            assert_eq!(frames.read(&frame(9, 4, 8 << 10), now), Ok(()), "complete headers");
        }
        frames.read(&frame(1, 0, 16 << 10), now).unwrap();
        assert_eq!(send(&mut frames, &frame(9, 0, 16 << 10), 4, now), Err(Flood::Headers));
        let mut frames = begun(now);
        assert_eq!(send(&mut frames, &frame(9, 0, 0), AT_ONCE + 1, now), Err(Flood::Frames));
    }

    #[test]
    fn frames_are_counted_however_they_are_split_into_reads() {
        let now = Instant::now();
        let all: Vec<u8> = (0..=AT_ONCE).flat_map(|_| frame(PING, 0, 8)).collect();
        for size in [1, 2, 7, 9, 16, 17, 4096, all.len()] {
            let mut frames = begun(now);
            let pieces = all.chunks(size).try_for_each(|piece| frames.read(piece, now));
            assert_eq!(pieces, Err(Flood::Frames), "in pieces of {size}");
            assert_eq!(frames.spare, 0);
        }
    }
}
