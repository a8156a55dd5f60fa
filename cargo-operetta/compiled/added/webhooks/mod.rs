//! What the API server asks this program before it stores an object.

pub mod labels;

pub mod short_names;
