//! Rules for names, labels and similar texts, with the messages of kube-apiserver.
//!
//! Each rule returns the errors of a text.

const DNS_LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// A rule that a name must follow. `prefix` says that the text will be continued at random.
pub type NameRule = fn(name: &str, prefix: bool) -> Vec<String>;

/// Names of most objects: lower case, digits, `-` and `.`, at most 253 bytes.
pub fn dns_subdomain(name: &str, prefix: bool) -> Vec<String> {
    let name = mask_trailing_dash(name, prefix);
    let mut errors = too_long(&name, 253);
    if !is_dns_subdomain(&name) {
        errors.push(subdomain_error());
    }
    errors
}

/// Search domains: like [`dns_subdomain`], but with `_`.
pub fn search_domain(name: &str, _prefix: bool) -> Vec<String> {
    let mut errors = too_long(name, 253);
    let outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let part = part.strip_prefix('_').unwrap_or(part);
        is_enclosed(part, outer, |byte| matches!(byte, b'-' | b'_'))
    };
    if !name.split('.').all(is_part) {
        let part = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
        errors.push(explain(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '_', '-' or '.', and must start and end with an alphanumeric character",
            &format!("{part}(\\.{part})*"),
            &["example.com"],
        ));
    }
    errors
}

/// Hosts for which a certificate or a route may stand: `*.example.com`.
pub fn wildcard_subdomain(name: &str, _prefix: bool) -> Vec<String> {
    let mut errors = too_long(name, 253);
    if !name.strip_prefix("*.").is_some_and(is_dns_subdomain) {
        errors.push(explain(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS \
             subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and \
             end with an alphanumeric character",
            &format!("\\*\\.{DNS_LABEL}(\\.{DNS_LABEL})*"),
            &["*.example.com"],
        ));
    }
    errors
}

/// Names of namespaces and the like: lower case, digits and `-`, at most 63 bytes.
pub fn dns_label(name: &str, prefix: bool) -> Vec<String> {
    let name = mask_trailing_dash(name, prefix);
    let mut errors = too_long(&name, 63);
    if is_dns_label(&name) {
        return errors;
    }
    let broken = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
                  '-', and must start and end with an alphanumeric character";
    errors.push(if is_dns_subdomain(&name) {
        "must not contain dots".to_owned()
    } else {
        explain(broken, DNS_LABEL, &["my-name", "123-abc"])
    });
    errors
}

/// Names of services: like [`dns_label`], but they start with a letter.
pub fn dns_1035_label(name: &str, prefix: bool) -> Vec<String> {
    let name = mask_trailing_dash(name, prefix);
    let mut errors = too_long(&name, 63);
    if !is_dns_label(&name) || name.starts_with(|first: char| first.is_ascii_digit()) {
        errors.push(explain(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start \
             with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    errors
}

/// Names that only have to fit into a path, such as those of roles.
pub fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let forbidden = ['/', '%'].into_iter().filter(|part| name.contains(*part));
    forbidden.map(|part| format!("may not contain '{part}'")).collect()
}

/// Keys of labels and annotations, finalizers: `name` or `example.com/name`.
pub fn label_key(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            errors.extend(key_prefix(prefix));
            name
        }
        _ => {
            let example =
                "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {} {example}", label_name_error())];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    }
    let long = longer_than(name, 63, "bytes").into_iter();
    errors.extend(long.map(|error| format!("name part {error}")));
    if !is_label_name(name) {
        errors.push(format!("name part {}", label_name_error()));
    }
    errors
}

/// Values of labels.
pub fn label_value(value: &str) -> Vec<String> {
    let mut errors = longer_than(value, 63, "bytes");
    if !value.is_empty() && !is_label_name(value) {
        errors.push(explain(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', \
             '_' or '.', and must start and end with an alphanumeric character",
            &format!("({LABEL_NAME})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    errors
}

/// Whether the text has the form of a DNS label, whatever its length.
pub(crate) fn is_dns_label(text: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    is_enclosed(text, alphanumeric, |byte| byte == b'-')
}

/// Whether the text has the form of a DNS subdomain, whatever its length.
pub(crate) fn is_dns_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
}

fn is_label_name(text: &str) -> bool {
    let inner = |byte| matches!(byte, b'-' | b'_' | b'.');
    is_enclosed(text, |byte| byte.is_ascii_alphanumeric(), inner)
}

/// Whether a text consists of `outer` and `inner` bytes and neither starts nor ends with `inner`.
fn is_enclosed(text: &str, outer: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().copied().is_some_and(&outer)
        && bytes.last().copied().is_some_and(&outer)
        && bytes.iter().all(|&byte| outer(byte) || inner(byte))
}

fn key_prefix(prefix: &str) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".to_owned()];
    }
    // The same as of a name, except that its length is counted in bytes.
    let errors = dns_subdomain(prefix, false).into_iter();
    errors
        .map(|error| format!("prefix part {}", error.replace("253 characters", "253 bytes")))
        .collect()
}

fn subdomain_error() -> String {
    explain(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
         or '.', and must start and end with an alphanumeric character",
        &format!("{DNS_LABEL}(\\.{DNS_LABEL})*"),
        &["example.com"],
    )
}

fn label_name_error() -> String {
    explain(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
         an alphanumeric character",
        LABEL_NAME,
        &["MyName", "my.name", "123-abc"],
    )
}

fn explain(rule: &str, regex: &str, examples: &[&str]) -> String {
    let examples: Vec<_> = examples.iter().map(|example| format!("'{example}'")).collect();
    let examples = examples.join(",  or ");
    format!("{rule} (e.g. {examples}, regex used for validation is '{regex}')")
}

fn too_long(text: &str, limit: usize) -> Vec<String> {
    longer_than(text, limit, "characters")
}

fn longer_than(text: &str, limit: usize, units: &str) -> Vec<String> {
    let error = || format!("must be no more than {limit} {units}");
    (text.len() > limit).then(error).into_iter().collect()
}

/// A prefix may end in `-`: what is appended to it starts with a letter or digit.
///
/// The last two characters become one, so that a prefix may also be one longer than a name.
fn mask_trailing_dash(name: &str, prefix: bool) -> String {
    let Some(start) = name.strip_suffix('-').filter(|start| prefix && !start.is_empty()) else {
        return name.to_owned();
    };
    let mut masked = start.to_owned();
    masked.pop();
    masked.push('a');
    masked
}

#[cfg(test)]
mod tests;
