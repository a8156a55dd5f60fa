//! Whether two outputs are the same but for what differs between runs.

use std::sync::LazyLock;

use regex::Regex;

/// Patterns of what differs between runs, and what stands for them.
const MASKS: [(&str, &str); 10] = [
    // `kubectl wait` cancels its watch at the end, and now and then its client logs that as an error of the server.
    (r"(?m)^I[0-9]{4} [0-9:.]+ +[0-9]+ reflector\.go:.*context canceled.*\n?", ""),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z", "<time>"),
    (r#"(resourceVersion"?: ?)"?[0-9]+"?"#, "$1<version>"),
    (r"\b([0-9]+(\.[0-9]+)?(d|h|m|s|ms|µs))+\b", "<duration>"),
    (r"\b10(\.[0-9]{1,3}){3}\b", "<ip>"),
    // Names that the API server generates; it uses no vowels.
    (r"-[0-9a-f]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<random>"),
    (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<random>"),
    // The width of a column depends on what is masked.
    (r" {2,}", "  "),
    (r"(?m) +$", ""),
];

/// Any lines.
const ELLIPSIS: &str = "...";

/// Whether an output is the one that is expected, in which `...` is any text, and alone in a line any lines.
pub(crate) fn is_alike(expected: &str, seen: &str) -> bool {
    let (expected, seen) = (masked(expected), masked(seen));
    let expected: Vec<_> = lines_of(&expected).map(Line::of).collect();
    matches(&expected, &lines_of(&seen).collect::<Vec<_>>())
}

/// Documents may have empty lines where that reads better, and none at the end of an output.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

enum Line {
    Any,
    Like(Regex),
}

impl Line {
    #[allow(clippy::unwrap_used, reason = "an escaped text is a pattern")]
    fn of(line: &str) -> Self {
        if line == ELLIPSIS {
            return Self::Any;
        }
        let parts = line.split(ELLIPSIS).map(regex::escape).collect::<Vec<_>>();
        Self::Like(Regex::new(&format!("^{}$", parts.join(".*"))).unwrap())
    }
}

fn matches(expected: &[Line], seen: &[&str]) -> bool {
    match expected {
        [] => seen.is_empty(),
        [Line::Any, rest @ ..] => (0..=seen.len()).any(|from| matches(rest, &seen[from..])),
        [Line::Like(line), rest @ ..] => match seen {
            [first, others @ ..] => line.is_match(first) && matches(rest, others),
            [] => false,
        },
    }
}

fn masked(text: &str) -> String {
    #[allow(clippy::unwrap_used, reason = "the tests compile every pattern")]
    static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        MASKS.into_iter().map(|(pattern, mask)| (Regex::new(pattern).unwrap(), mask)).collect()
    });
    let hide = |text: String, (pattern, mask): &(Regex, &str)| {
        pattern.replace_all(&text, *mask).into_owned()
    };
    COMPILED.iter().fold(text.to_owned(), hide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_a_client_that_cancels_its_watch_is_no_output() {
        let seen = "I1130 04:55:37.128412    3615 reflector.go:664] \"Warning: watch ended with error\" \
                    err=\"an error on the server (context canceled) has prevented it\"\nwebsite/shop condition met\n";
        assert!(is_alike("website/shop condition met\n", seen));
        assert!(!is_alike("website/shop condition met\n", &seen.replace("I1130", "E1130")));
    }

    #[test]
    fn what_differs_between_runs_is_not_compared() {
        assert!(is_alike("pod/a-7d9c8b5f6d-x2k4p   1s\n", "pod/a-5b6f7c8d9f-zz9xw     12m4s\n"));
        assert!(is_alike(
            "at 2026-01-01T00:00:00Z, 10.0.0.1",
            "at 2027-02-03T04:05:06.7Z, 10.96.3.4"
        ));
        assert!(!is_alike("NAME  READY\n", "NAME  STATUS\n"));
        assert!(!is_alike("database/main  17.7\n", "database/main  17.8\n"));
    }

    #[test]
    fn an_ellipsis_is_any_text_and_any_lines() {
        assert!(is_alike("a\n...\nz\n", "a\nb\nc\nz\n"));
        assert!(is_alike("a\n...\nz\n", "a\nz\n"));
        assert!(is_alike(
            "export KUBECONFIG=.../kubeconfig",
            "export KUBECONFIG=/tmp/x/kubeconfig"
        ));
        assert!(!is_alike("a\n...\nz\n", "a\nb\n"));
        assert!(!is_alike("a.b", "acb"));
        assert!(!is_alike("", "more\n"));
    }
}
