//! The documents as tests: every command is run, and every piece of code is the one that is compiled.
//!
//! ````text
//! <!-- session: operators -->        what the commands of the page find; the tests that play pages know the names
//!
//! <!-- run: kubectl apply -f shop.yaml -->    a command that is not shown, for what the page takes as given
//!
//! <!-- code: examples/hello.rs#sync -->       the block is this file, or its part between `// ANCHOR: sync`
//! ```rust                                      and `// ANCHOR_END: sync`
//!
//! <!-- file: shop.yaml -->           the reader saves the block under this name; so does the session
//! ```yaml
//!
//! ```console                         commands after `$ `, continued by `> `, with what they print
//! $ kubectl get pods
//! ...                                any lines; within a line, any text
//!
//! ```console server                  the command keeps running: in a terminal of its own
//! $ cargo run
//! Operetta is ready. ...
//! ^C                                 alone in a block or at its end: the reader stops it
//! ````
//!
//! All commands of a page are of one shell, so that variables and folders stay. What differs between runs (ages,
//! uids, times, addresses) is not compared. With `UPDATE_EXPECT=1` the documents are rewritten instead.

mod code;
mod compare;
mod page;
mod session;
mod shell;

pub use code::{CodeError, check_code};
pub use page::{Block, Page};
pub use session::{Session, can_be_alone};
pub use shell::Shell;
