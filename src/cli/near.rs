//! Which of the known names was meant.

/// How similar two names must be, from 0 to 1.
const SIMILAR: f64 = 0.75;
/// How many names are listed.
const MOST: usize = 8;

/// The end of a sentence about a name that does not exist.
pub(super) fn near(name: &str, known: &[String]) -> String {
    let similar = similar(name, known);
    let listed = |names: &[&String], between: &str| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
    };
    match known.len() {
        _ if !similar.is_empty() => format!("; did you mean {}?", listed(&similar, " or ")),
        0 => "; there is none".to_owned(),
        count if count <= MOST => {
            format!("; known are {}", listed(&known.iter().collect::<Vec<_>>(), ", "))
        }
        count => format!("; {count} others are known"),
    }
}

/// The most similar first.
fn similar<'a>(name: &str, known: &'a [String]) -> Vec<&'a String> {
    // A namespace that was forgotten or is wrong makes everything before it different.
    let end = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let score = |other: &str| {
        let whole = strsim::jaro_winkler(name, other);
        if end(name) == end(other) { whole.max(SIMILAR) } else { whole }
    };
    let mut scored: Vec<_> = known.iter().map(|other| (score(other), other)).collect();
    scored.retain(|(score, _)| *score >= SIMILAR);
    scored.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.cmp(b)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_was_meant_is_suggested() {
        let operators = names(&["echo-server", "temp-namespace"]);
        assert_eq!(near("echo-sever", &operators), "; did you mean `echo-server`?");
        let parents = names(&["default/hello", "shop/menu"]);
        assert_eq!(near("hello", &parents), "; did you mean `default/hello`?");
        assert_eq!(near("test/menu", &parents), "; did you mean `shop/menu`?");
    }

    #[test]
    fn otherwise_the_known_names_are_listed_if_they_are_few() {
        assert_eq!(near("xyz", &names(&["b", "c"])), "; known are `b`, `c`");
        assert_eq!(near("xyz", &[]), "; there is none");
        let many: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        assert_eq!(near("xyz", &many), "; 100 others are known");
    }
}
