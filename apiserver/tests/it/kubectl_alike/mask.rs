//! Removes what differs between any two runs: ages, times, uids, versions, addresses, ports, widths of columns.

use std::sync::LazyLock;

use regex::Regex;

static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
        (r"20(2[6-9]|[3-9]\d)-\d\d-\d\dT[0-9:]{8}(\.\d+)?Z", "<time>"),
        (r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d [0-9:]{8} [+-]\d{4}", "<time>"),
        (r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( \w+)?( m=\+[0-9.]+)?", "<time>"),
        (r"\b[EIW]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ ", "<log> "),
        (r#"(resourceVersion"?:? ?"?|Resource Version:\s+)\d+"#, "${1}<version>"),
        (r"\b\d+m?\d*(\.\d+)?m?s\b", "<age>"),
        (r"\b10\.\d+\.\d+\.\d+", "<address>"),
        (r"(127\.0\.0\.1|localhost|0\.0\.0\.0):\d+", "<host>"),
        (r"\b3[0-2]\d{3}\b", "<port>"),
        (r"/tmp/[A-Za-z0-9./_-]+", "<file>"),
        ("0x[0-9a-f]{6,}", "<pointer>"),
        (r"debugger-\w{5}\b", "debugger-<name>"),
        (r"eyJ[\w-]+\.[\w-]+\.[\w-]+", "<token>"),
        ("X509SHA256=[0-9a-f]+", "<certificate>"),
        (r"[ \t]+", " "),
        (r"-{3,}", "---"),
    ];
    rules.map(|(pattern, to)| (Regex::new(pattern).unwrap(), to)).into()
});

/// JSON in one line is compared without the order of its fields.
pub(crate) fn masked(text: &str, namespace: &str) -> String {
    let text = text.replace(namespace, "$NS");
    let is_line = !text.trim_end().contains('\n');
    let text = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(value) if is_line && value.is_object() => value.to_string(),
        _ => text,
    };
    RULES.iter().fold(text, |text, (pattern, to)| pattern.replace_all(&text, *to).into_owned())
}
