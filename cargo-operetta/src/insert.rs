//! What `cargo operetta add` inserts into files that exist. Text in, text out; rustfmt shapes it afterwards.

/// A file that does not look as `cargo operetta new` wrote it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` is not in {file}: write `{inserted}` yourself")]
pub(crate) struct Unplaced {
    pub(crate) file: String,
    pub(crate) place: String,
    pub(crate) inserted: String,
}

/// A line before the first item, after the comments and attributes about the whole file.
pub(crate) fn first_item(text: &str, item: &str) -> String {
    let is_about_file =
        |line: &str| line.is_empty() || line.starts_with("//!") || line.starts_with("#![");
    let header = text.split_inclusive('\n').take_while(|line| is_about_file(line.trim_end()));
    let (header, rest) = text.split_at(header.map(str::len).sum());
    format!("{header}{item}\n\n{rest}")
}

/// A call after the first one that begins with `call`, which ends with the parenthesis that closes it.
pub(crate) fn chained(
    file: &str,
    text: &str,
    call: &str,
    inserted: &str,
) -> Result<String, Unplaced> {
    let unplaced = || {
        let (file, place, inserted) = (file.to_owned(), call.to_owned(), inserted.to_owned());
        Unplaced { file, place, inserted }
    };
    let begin = text.find(call).ok_or_else(unplaced)?;
    let end = begin + closed(&text[begin..]).ok_or_else(unplaced)?;
    Ok(format!("{}\n{inserted}{}", &text[..end], &text[end..]))
}

/// A feature of a dependency whose features are on its line, the first of this name.
pub(crate) fn dependency_feature(
    file: &str,
    text: &str,
    dependency: &str,
    feature: &str,
) -> Result<String, Unplaced> {
    let place = format!("{dependency} = {{ .., features = [..] }}");
    let quoted = format!("\"{feature}\"");
    let begin = format!("{dependency} = {{");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let found = lines.iter_mut().find(|line| line.starts_with(&begin));
    let Some((line, list)) = found
        .and_then(|line| line.find("features = [").map(|at| (line, at + "features = [".len())))
    else {
        return Err(Unplaced { file: file.to_owned(), place, inserted: quoted });
    };
    if line.contains(&quoted) {
        return Ok(text.to_owned());
    }
    let comma = if line[list..].trim_start().starts_with(']') { "" } else { ", " };
    line.insert_str(list, &(quoted + comma));
    Ok(lines.join("\n") + "\n")
}

/// Where the first parenthesis of a text is closed. What is called has no parenthesis in a text or a comment.
fn closed(text: &str) -> Option<usize> {
    let mut open = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' if open == 1 => return Some(at + 1),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_comes_after_what_is_about_the_file() {
        let text = "//! A shop.\n\n#![allow(dead_code)]\n\nuse a::B;\n";
        let expected = "//! A shop.\n\n#![allow(dead_code)]\n\npub mod till;\n\nuse a::B;\n";
        assert_eq!(first_item(text, "pub mod till;"), expected);
        assert_eq!(first_item("fn a() {}\n", "mod b;"), "mod b;\n\nfn a() {}\n");
    }

    #[test]
    fn a_call_is_chained_after_the_whole_of_another() {
        let text = "run(builder().register(config(), sync))\n";
        let both = chained("src/main.rs", text, ".register(", ".register(till())");
        assert_eq!(both.unwrap(), "run(builder().register(config(), sync)\n.register(till()))\n");
        let error = chained("src/main.rs", "run()", ".register(", ".register(till())").unwrap_err();
        let expected = "`.register(` is not in src/main.rs: write `.register(till())` yourself";
        assert_eq!(error.to_string(), expected);
        assert!(chained("a", ".register(", ".register(", "b").is_err());
    }

    #[test]
    fn a_feature_is_added_to_the_dependency_once() {
        let text =
            "[dependencies]\noperetta = { path = \"/o\", features = [\"cli\"] }\nserde = \"1\"\n";
        let of = |text: &str| dependency_feature("Cargo.toml", text, "operetta", "certificates");
        let added = of(text).unwrap();
        assert!(added.contains("features = [\"certificates\", \"cli\"] }\nserde"), "{added}");
        assert_eq!(of(&added).unwrap(), added);
        let error = of("[dependencies.operetta]\nversion = \"1\"\n").unwrap_err().to_string();
        let expected = "`operetta = { .., features = [..] }` is not in Cargo.toml: write `\"certificates\"` yourself";
        assert_eq!(error, expected);
    }
}
