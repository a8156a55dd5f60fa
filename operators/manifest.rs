//! The files under `deploy/` that are generated.

/// The header with the command that generates the text, so that nobody edits it; `flags` are those of the command.
pub(crate) fn header(command: &str, flags: &[String]) -> String {
    let command_line = [&[command.to_owned()], flags].concat().join(" ");
    format!(
        "Generated from the declarations in operators/: change those, then run\n    \
         cargo run -- {command_line} > deploy/{command}.yaml"
    )
}

/// A flag with names, as the command line takes it; none without names.
pub fn flag(name: &str, values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| format!("--{name}={}", values.join(",")))
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
