//! The testkit as users have it: their tests write, wait until the operators have settled, and assert.

mod business_hours;
mod clock;
mod purity;
mod ready;
mod recorded;
mod scenario;
mod settled;
mod support;
