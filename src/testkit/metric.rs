//! The values of metrics, for assertions.

use std::collections::BTreeMap;

use crate::supervisor::Running;

/// The sum of all series of a metric that have these labels, as `/metrics` shows them; `None` if there is none. A
/// histogram has `<name>_count` and `<name>_sum`.
///
/// ```
/// # use operetta::{supervisor::Running, testkit::metric};
/// # fn example(running: &Running) {
/// let labels = [("operator", "cook"), ("source", "s3")];
/// assert_eq!(metric(running, "operetta_custom_restores_total", &labels), Some(1.0));
/// # }
/// ```
pub fn metric(running: &Running, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    sum(&running.probes().metrics(), name, labels)
}

fn sum(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let of_line = |line: &str| {
        let series = line.strip_prefix(name)?;
        let (of_series, value) = series.rsplit_once(' ')?;
        let known = parsed(of_series)?;
        let has = |(label, value): &(&str, &str)| known.get(*label).is_some_and(|it| it == value);
        labels.iter().all(has).then(|| value.parse::<f64>().ok())?
    };
    text.lines().filter_map(of_line).reduce(|one, other| one + other)
}

/// The labels behind a name; `None` if it is part of another name.
fn parsed(series: &str) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    if series.is_empty() {
        return Some(labels);
    }
    let mut left = series.strip_prefix('{')?.strip_suffix('}')?;
    while let Some((name, quoted)) = left.split_once("=\"") {
        let (value, end) = unescaped(quoted)?;
        labels.insert(name.to_owned(), value);
        left = quoted[end..].trim_start_matches(',');
    }
    Some(labels)
}

/// A value up to its quotation mark, and where what follows begins.
fn unescaped(quoted: &str) -> Option<(String, usize)> {
    let (mut value, mut chars) = (String::new(), quoted.char_indices());
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            _ => value.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_with_these_labels_are_summed() {
        let text = "# HELP a Help {a=\"1\"} 7\n\
                    # TYPE a counter\n\
                    a{x=\"1\",operator=\"p\"} 1\n\
                    a{x=\"2\",operator=\"p\"} 2.5\n\
                    a{x=\"say \\\"a, b\\\"\\n\\\\\",operator=\"q\"} 4\n\
                    a_total{x=\"1\"} 9\n\
                    b 3\n";
        for (name, labels, expected) in [
            ("a", &[][..], Some(7.5)),
            ("a", &[("operator", "p")], Some(3.5)),
            ("a", &[("operator", "p"), ("x", "2")], Some(2.5)),
            ("a", &[("x", "say \"a, b\"\n\\")], Some(4.0)),
            ("a", &[("x", "3")], None),
            ("a", &[("y", "1")], None),
            ("b", &[], Some(3.0)),
            ("c", &[], None),
        ] {
            assert_eq!(sum(text, name, labels), expected, "{name} {labels:?}");
        }
    }
}
