//! Parity with roperator, and the absence of its defects.

mod defects;
