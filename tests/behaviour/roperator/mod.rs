//! What roperator holds and what it lacks.

mod defects;
mod parity;
