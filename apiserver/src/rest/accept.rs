//! The requested representation of an object.

use crate::status::StatusError;

/// A representation of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Representation {
    /// As it is.
    Object,
    /// Rows for `kubectl get`.
    Table,
    /// Metadata without the rest.
    PartialMetadata,
}

/// The first representation in an `Accept` header that can be produced.
pub(super) fn choose(accept: Option<&str>) -> Result<Representation, StatusError> {
    let accept = accept.unwrap_or_default();
    if accept.trim().is_empty() {
        return Ok(Representation::Object);
    }
    accept.split(',').find_map(offer).ok_or_else(StatusError::not_acceptable)
}

fn offer(range: &str) -> Option<Representation> {
    let mut parts = range.split(';').map(str::trim);
    let media = parts.next()?;
    if !matches!(media, "application/json" | "application/*" | "*/*") {
        return None;
    }
    let parameter = |name: &str| {
        let mut parameters = range.split(';').skip(1).map(str::trim);
        parameters.find_map(|p| p.strip_prefix(name)?.strip_prefix('='))
    };
    match parameter("as") {
        None => Some(Representation::Object),
        Some(_) if parameter("g") != Some("meta.k8s.io") || parameter("v") != Some("v1") => None,
        Some("Table") => Some(Representation::Table),
        Some("PartialObjectMetadata" | "PartialObjectMetadataList") => {
            Some(Representation::PartialMetadata)
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_can_be_produced_is_chosen() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        let partial = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
                       application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
        let cases = [
            (None, Ok(Representation::Object)),
            (Some("*/*"), Ok(Representation::Object)),
            (
                Some("application/vnd.kubernetes.protobuf,application/json"),
                Ok(Representation::Object),
            ),
            (Some(table), Ok(Representation::Table)),
            (Some(partial), Ok(Representation::PartialMetadata)),
            (Some("text/html"), Err(StatusError::not_acceptable())),
        ];
        for (accept, expected) in cases {
            assert_eq!(choose(accept), expected, "{accept:?}");
        }
    }
}
