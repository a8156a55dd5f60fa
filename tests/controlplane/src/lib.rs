//! A real Kubernetes control plane for tests: etcd, kube-apiserver and kube-controller-manager on loopback.
//!
//! The programs are built once per version of Kubernetes from the Go module beside this file and kept in the user's cache
//! directory. There is no kubelet and no scheduler: pods are stored and collected, never run. Nothing here is meant
//! for production: etcd does not sync to disk and listens without TLS on loopback.
//!
//! ```no_run
//! let control_plane = operetta_controlplane::ControlPlane::start()?;
//! println!("{}", control_plane.kubeconfig_path().display());
//! # Ok::<(), operetta_controlplane::Error>(())
//! ```

mod audit;
mod backup;
mod binaries;
mod blocking;
mod certificates;
mod control_plane;
mod credentials;
mod error;
mod etcd;
mod flags;
mod given;
mod home;
mod options;
mod process;
mod version;

pub use audit::AuditEvent;
pub use backup::Backup;
pub use binaries::Binaries;
pub use control_plane::ControlPlane;
pub use error::Error;
pub use given::{Borrowed, GivenCluster};
pub use options::{Options, User};
pub use version::{UnknownVersion, Version};
