//! The parts of an object that have a path of their own.

/// The part of an object that a write may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subresource {
    /// The object without its status.
    Main,
    /// The status alone.
    Status,
    /// The number of replicas alone.
    Scale,
    /// A namespace's `spec.finalizers` alone.
    Finalize,
    /// The approval of a request for a certificate alone.
    Approval,
    /// A Pod's containers for debugging alone.
    EphemeralContainers,
    /// The resources of a Pod's containers alone.
    Resize,
}

impl Subresource {
    /// As `managedFields` and paths spell it; empty for the object itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Finalize => "finalize",
            Self::Approval => "approval",
            Self::EphemeralContainers => "ephemeralcontainers",
            Self::Resize => "resize",
        }
    }
}
