//! Semantic versions.

use std::cmp::Ordering;

/// A semantic version. The build does not count.
#[derive(Debug)]
pub(in crate::cel) struct Version {
    /// Major, minor and patch.
    pub(in crate::cel) numbers: [u64; 3],
    pre_release: Vec<String>,
}

impl Version {
    /// Which of two versions comes first.
    pub(in crate::cel) fn precedence(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.compare_pre_release(other),
            }
        })
    }

    fn compare_pre_release(&self, other: &Self) -> Ordering {
        for (mine, other) in self.pre_release.iter().zip(&other.pre_release) {
            let order = match (mine.parse::<u64>(), other.parse::<u64>()) {
                (Ok(mine), Ok(other)) => mine.cmp(&other),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => mine.cmp(other),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        self.pre_release.len().cmp(&other.pre_release.len())
    }
}

/// Reads a version. A lenient reader completes the text, and drops zeros in front.
pub(in crate::cel) fn read(text: &str, lenient: bool) -> Result<Version, String> {
    if lenient { parse(&normalised(text)?) } else { parse(text) }
}

/// `v1.02` is `1.2.0`.
fn normalised(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".to_owned());
    }
    parts.resize(3, "0".to_owned());
    Ok(parts.join("."))
}

fn without_zeros(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let rest = part.trim_start_matches('0');
    if rest.starts_with(|first: char| first.is_ascii_digit()) {
        rest.to_owned()
    } else {
        format!("0{rest}")
    }
}

/// Reads a version.
pub(in crate::cel) fn parse(text: &str) -> Result<Version, String> {
    if text.is_empty() {
        return Err("Version string empty".to_owned());
    }
    let parts: Vec<_> = text.splitn(3, '.').collect();
    let [major, minor, rest] = parts[..] else {
        return Err("No Major.Minor.Patch elements found".to_owned());
    };
    let major = digits(major, "major")?;
    let minor = digits(minor, "minor")?;
    let (rest, build) =
        rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
    let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
    let patch = digits(patch, "patch")?;
    let mut pre_release = Vec::new();
    for part in pre.into_iter().flat_map(|pre| pre.split('.')) {
        pre_release.push(pre_release_part(part)?);
    }
    for part in build.into_iter().flat_map(|build| build.split('.')) {
        if part.is_empty() {
            return Err("Build meta data is empty".to_owned());
        }
        if !is_alphanumeric(part) {
            return Err(format!("Invalid character(s) found in build meta data \"{part}\""));
        }
    }
    Ok(Version { numbers: [major, minor, patch], pre_release })
}

fn digits(text: &str, which: &str) -> Result<u64, String> {
    let title = format!("{}{}", which[..1].to_uppercase(), &which[1..]);
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {which} number \"{text}\""));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{title} number must not contain leading zeroes \"{text}\""));
    }
    text.parse().map_err(|_| {
        let reason = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        format!("strconv.ParseUint: parsing \"{text}\": {reason}")
    })
}

fn pre_release_part(part: &str) -> Result<String, String> {
    if part.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && part.len() > 1 && part.starts_with('0') {
        return Err(format!(
            "Numeric PreRelease version must not contain leading zeroes \"{part}\""
        ));
    }
    if !is_number && !is_alphanumeric(part) {
        return Err(format!("Invalid character(s) found in prerelease \"{part}\""));
    }
    Ok(part.to_owned())
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_version_or_refused() {
        const TOKENS: [&str; 12] = [
            "v",
            "1",
            "0",
            "01",
            ".",
            "1.2.3",
            "-",
            "+",
            "rc",
            "18446744073709551616",
            "-rc.1",
            " ",
        ];
        let parser = |text: &str| {
            drop(read(text, true));
            if let Ok(version) = read(text, false) {
                assert_eq!(version.precedence(&version), Ordering::Equal);
            }
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
