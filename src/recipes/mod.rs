//! What many operators need beside the framework: small functions from values to values.
//!
//! ```text
//! child -------------------checksum_of--> an annotation of a Pod template
//! text --------------------NameRule-----> a name
//! observed object ---------ObjectCopy---> a child
//! child, fields of a user --Overrides---> a child, or a conflict
//! status, input, time -----External-----> whether to call another system
//! status, time ------------Polling------> whether to ask another system again
//! schedule, time ----------CronSchedule-> when it is due (feature `cron`)
//! Secret, names, time -----Authority----> certificates (feature `certificates`)
//! Jobs --------------------JobHistory---> those to keep
//! key, ports in use -------stable_port--> a port
//!                          Password-----> a random text
//! ```
//!
//! Layer 3. Nothing here does I/O or reads a clock; passwords and certificates read the randomness of the operating
//! system.
//!
//! Invariants:
//! - the same input gives the same output, where it is not random on purpose;
//! - what is secret is not printed by `Debug`, and errors quote no Secret.

#[cfg(feature = "certificates")]
mod certificates;
mod checksum;
#[cfg(feature = "cron")]
mod cron;
mod digest;
mod external;
mod kept_jobs;
mod moment;
mod names;
mod object_copy;
mod overrides;
mod password;
mod polling;
mod ports;

#[cfg(feature = "certificates")]
pub use certificates::{Authority, CertificateError, ServiceNames, ServingCertificate, TlsData};
#[cfg(feature = "certificates")]
pub(crate) use certificates::{Known, Lifetimes, Reason, Rotation, expiry};
pub use checksum::{ChecksumError, checksum_of};
#[cfg(feature = "cron")]
pub use cron::{CronSchedule, ScheduleError, time_zone};
pub use external::{Call, CallReason, Due, External, InputError};
pub use kept_jobs::JobHistory;
pub use names::NameRule;
pub use object_copy::{CopyError, ObjectCopy};
pub use overrides::{OverrideError, Overrides};
pub use password::{Alphabet, Password, PasswordError};
pub use polling::{PollPolicy, PollTurn, Polling};
pub use ports::{NoFreePort, stable_port};
