//! The header of generated files.

/// Names the command that generates the text, so that nobody edits it; `flags` are those of the command.
pub(super) fn header(command: &str, flags: &[String]) -> String {
    let command_line = [&[command.to_owned()], flags].concat().join(" ");
    format!(
        "Generated from the declarations of the operators: change those, then run\n    \
         cargo run -- {command_line} > deploy/{command}.yaml"
    )
}

/// A flag with names, as the command line takes it; none without names.
pub(super) fn flag(name: &str, values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| format!("--{name}={}", values.join(",")))
}
