//! HTTP/2 as it comes in, as far as its frames can be counted: pure. What they say is not read.
//!
//! The HTTP/2 library bounds the memory that frames take (it answers one PING or SETTINGS before
//! it reads the next), the number of resets, and the headers of a request at 16 MiB. It does not
//! mind how many frames come that belong to no request and no answer, each of which costs time.

use std::time::Instant;

/// So many frames that carry nothing may come at once.
const AT_ONCE: u32 = 1000;
/// And so many more each second. A client that measures the delay sends about ten.
const PER_SECOND: u32 = 20;
/// As many bytes of the headers of one request, compressed; the guard takes a third of it.
const MAX_HEADERS: usize = 64 << 10;
/// What every client begins with.
const PREFACE: usize = 24;
const HEAD: usize = 9;

/// The client sends more than anybody needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flood {
    #[error("too many HTTP/2 frames that carry nothing")]
    Frames,
    #[error("the headers of an HTTP/2 request are too large")]
    Headers,
}

/// What has come in on a connection.
#[derive(Debug)]
pub(super) struct Frames {
    /// So much of what comes next is no head of a frame.
    skip: usize,
    /// As much of the next head as has come.
    head: Vec<u8>,
    /// Of the headers that have not come to their end.
    headers: usize,
    /// So many frames may come that carry nothing.
    spare: u32,
    refilled: Instant,
}

/// The kinds that are counted, with their numbers in RFC 9113.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Data,
    Headers,
    /// PRIORITY, `RST_STREAM`, SETTINGS, PING, and kinds that nobody knows.
    Aside,
    WindowUpdate,
    Continuation,
}

impl Frames {
    pub(super) fn new(now: Instant) -> Self {
        let head = Vec::with_capacity(HEAD);
        Self { skip: PREFACE, head, headers: 0, spare: AT_ONCE, refilled: now }
    }

    /// Takes what has come in.
    ///
    /// # Errors
    /// When it is more than anybody needs.
    pub(super) fn read(&mut self, mut bytes: &[u8], now: Instant) -> Result<(), Flood> {
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            let (part, rest) = bytes[skipped..].split_at(self.missing().min(bytes.len() - skipped));
            self.head.extend_from_slice(part);
            let &[a, b, c, kind, flags, _, _, _, _] = self.head.as_slice() else { return Ok(()) };
            self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
            self.head.clear();
            self.count(Kind::of(kind), self.skip, flags, now)?;
            bytes = rest;
        }
    }

    /// How much of a head is still to come; none of it while something else is.
    fn missing(&self) -> usize {
        if self.skip > 0 { 0 } else { HEAD - self.head.len() }
    }

    fn count(&mut self, kind: Kind, length: usize, flags: u8, now: Instant) -> Result<(), Flood> {
        const END_HEADERS: u8 = 4;
        match kind {
            Kind::Headers => self.headers = length,
            Kind::Continuation => self.headers += length,
            Kind::Data | Kind::Aside | Kind::WindowUpdate => {}
        }
        if self.headers > MAX_HEADERS {
            return Err(Flood::Headers);
        }
        if matches!(kind, Kind::Headers | Kind::Continuation) && flags & END_HEADERS != 0 {
            self.headers = 0;
        }
        let carries = match kind {
            Kind::Data => length > 0,
            // A request, and that more of an answer is wanted.
            Kind::Headers | Kind::WindowUpdate => true,
            Kind::Aside | Kind::Continuation => false,
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

impl Kind {
    fn of(number: u8) -> Self {
        match number {
            0 => Self::Data,
            1 => Self::Headers,
            8 => Self::WindowUpdate,
            9 => Self::Continuation,
            _ => Self::Aside,
        }
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
    fn frames_that_carry_nothing_are_bounded_by_the_second() {
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
    fn requests_bodies_and_what_is_taken_of_answers_are_not_counted() {
        let now = Instant::now();
        let mut frames = begun(now);
        for (kind, flags, length) in [(1, 5, 30), (0, 0, 100), (8, 0, 4)] {
            assert_eq!(send(&mut frames, &frame(kind, flags, length), 9999, now), Ok(()));
        }
    }

    #[test]
    fn headers_that_go_on_and_on_are_cut() {
        let now = Instant::now();
        let mut frames = begun(now);
        for _ in 0..9 {
            frames.read(&frame(1, 0, 16 << 10), now).unwrap();
            assert_eq!(send(&mut frames, &frame(9, 0, 8 << 10), 5, now), Ok(()));
            assert_eq!(frames.read(&frame(9, 4, 8 << 10), now), Ok(()), "they have an end");
        }
        frames.read(&frame(1, 0, 16 << 10), now).unwrap();
        assert_eq!(send(&mut frames, &frame(9, 0, 16 << 10), 4, now), Err(Flood::Headers));
        let mut frames = begun(now);
        assert_eq!(send(&mut frames, &frame(9, 0, 0), AT_ONCE + 1, now), Err(Flood::Frames));
    }

    #[test]
    fn frames_are_found_however_they_are_cut_into_pieces() {
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
