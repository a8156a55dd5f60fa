//! What a webhook answers: reviews in, reviews out. Pure.
//!
//! Layer 2.
//!
//! ```text
//! AdmissionReview  --review-----> AdmissionRequest --operator::admission---> Answered --answer-----> AdmissionReview
//! ConversionReview --conversion-> objects          --operator::conversion--> objects  --converted--> ConversionReview
//! ```
//!
//! Invariants:
//! - A review that is no `admission.k8s.io/v1` is refused with a sentence, and never answered as if it were.
//! - An object that did not change has no patch.

mod answer;
mod conversion;
mod envelope;
mod registered;
mod review;

pub(crate) use answer::answer;
pub(crate) use conversion::{Conversion, conversion, converted};
pub(crate) use envelope::ReviewError;
pub(crate) use registered::Registered;
pub use registered::WebhooksError;
pub(crate) use review::review;
