//! Writes lines in which nothing deceives whoever reads them on a terminal. In JSON the escapes keep the meaning.

use std::io;

use tracing_subscriber::fmt::MakeWriter;

use crate::object::legible;

/// Makes writers of which each line is [legible].
pub(super) struct LegibleLines<M>(pub(super) M);

/// A writer. It is given whole events, so that no letter is cut.
pub(super) struct Legible<W>(W);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for LegibleLines<M> {
    type Writer = Legible<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Legible(self.0.make_writer())
    }
}

impl<W: io::Write> io::Write for Legible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(legible(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
