//! What Go says of a text that is no YAML: the same problem as its parser here, with another place.
//!
//! Both parsers come from one in C. Go names one line only, which depends on what found the problem.

/// A complaint of the parser here, as Go makes it.
pub(super) fn in_words_of_go(complaint: &str) -> String {
    let Some((problem, place)) = complaint.split_once(" at line ") else {
        return format!("yaml: {complaint}");
    };
    let lines = [place.split_once(" at line ").map(|(_, context)| context), Some(place)];
    // Lines are counted from one here. The first is not named.
    let mut below_first = lines.into_iter().flatten().filter_map(|place| {
        let digits = place.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<usize>().ok()?.checked_sub(1).filter(|line| *line > 0)
    });
    match below_first.next() {
        Some(line) => {
            format!("yaml: line {}: {problem}", line + usize::from(is_of_scanner(problem)))
        }
        None => format!("yaml: {problem}"),
    }
}

/// Whether the scanner found the problem, and not the parser behind it.
fn is_of_scanner(problem: &str) -> bool {
    !problem.starts_with("did not find expected")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_names_the_line_that_go_names() {
        let cases = [
            (
                "did not find expected node content at line 2 column 1, while parsing a flow node",
                "yaml: line 1: did not find expected node content",
            ),
            (
                "mapping values are not allowed in this context at line 1 column 5",
                "yaml: mapping values are not allowed in this context",
            ),
            ("recursion limit exceeded", "yaml: recursion limit exceeded"),
        ];
        for (complaint, expected) in cases {
            assert_eq!(in_words_of_go(complaint), expected);
        }
    }
}
