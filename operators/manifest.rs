//! The files under `deploy/` that are generated.

/// The header with the command that generates the text, so that nobody edits it.
pub(crate) fn header(command: &str) -> String {
    format!(
        "Generated from the declarations in operators/: change those, then run\n    \
         cargo run -- {command} > deploy/{command}.yaml"
    )
}

/// Fails, with the command to run, when the file under `deploy/` is not this text.
#[cfg(test)]
pub(crate) fn assert_committed(command: &str, text: &str) {
    let path = format!("{}/../deploy/{command}.yaml", env!("CARGO_MANIFEST_DIR"));
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == text,
        "deploy/{command}.yaml does not match the declarations; to generate it again:\n\n    \
         cargo run -- {command} > deploy/{command}.yaml\n"
    );
}
