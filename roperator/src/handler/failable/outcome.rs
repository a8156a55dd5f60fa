//! The results of the calls of a failable handler.

/// The result of `validate`, `sync_children` or `finalize`, for `determine_status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerResult<V, E> {
    /// `validate` failed.
    ValidationFailed(E),
    /// `validate` succeeded and `sync_children` failed.
    SyncFailed(V, E),
    /// `finalize` failed.
    FinalizeFailed(E),
    /// `validate` and `sync_children` succeeded.
    SyncSuccess(V),
    /// `finalize` succeeded.
    FinalizeSuccess,
}

impl<V, E> HandlerResult<V, E> {
    /// Whether nothing failed. A parent that was finalized was not validated.
    pub fn is_success(&self) -> bool {
        self.error().is_none()
    }

    /// Whether something failed.
    pub fn is_error(&self) -> bool {
        self.error().is_some()
    }

    /// Why it failed.
    pub fn error(&self) -> Option<&E> {
        match self {
            Self::ValidationFailed(error)
            | Self::SyncFailed(_, error)
            | Self::FinalizeFailed(error) => Some(error),
            Self::SyncSuccess(_) | Self::FinalizeSuccess => None,
        }
    }

    /// Why it failed.
    pub fn into_error(self) -> Option<E> {
        match self {
            Self::ValidationFailed(error)
            | Self::SyncFailed(_, error)
            | Self::FinalizeFailed(error) => Some(error),
            Self::SyncSuccess(_) | Self::FinalizeSuccess => None,
        }
    }

    /// What validation made of the request, where it succeeded.
    pub fn into_validated(self) -> Option<V> {
        match self {
            Self::SyncFailed(validated, _) | Self::SyncSuccess(validated) => Some(validated),
            Self::ValidationFailed(_) | Self::FinalizeFailed(_) | Self::FinalizeSuccess => None,
        }
    }

    /// The step that failed, as it is reported.
    pub(crate) fn what_failed(&self) -> &'static str {
        match self {
            Self::ValidationFailed(_) => "validation failed",
            Self::SyncFailed(..) => "sync failed",
            Self::FinalizeFailed(_) => "finalize failed",
            Self::SyncSuccess(_) | Self::FinalizeSuccess => "nothing failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_holds_its_value_or_error() {
        type R = HandlerResult<u8, char>;
        for (result, validated, error) in [
            (R::ValidationFailed('e'), None, Some('e')),
            (R::SyncFailed(1, 'e'), Some(1), Some('e')),
            (R::FinalizeFailed('e'), None, Some('e')),
            (R::SyncSuccess(1), Some(1), None),
            (R::FinalizeSuccess, None, None),
        ] {
            assert_eq!(result.is_error(), error.is_some(), "{result:?}");
            assert_eq!(result.is_success(), error.is_none(), "{result:?}");
            assert_eq!(result.clone().into_error(), error);
            assert_eq!(result.into_validated(), validated);
        }
    }
}
