//! The documents: what they link to exists, and so do the tests and the files that ARCHITECTURE.md names.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

#[test]
fn the_tests_that_the_guarantees_name_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named = text.split("`b/").skip(1).map(|rest| rest.split('`').next().unwrap());
    let named: Vec<String> = named.filter(|name| !name.is_empty()).flat_map(each).collect();
    let is_there = |name: &&String| {
        let path = root().join("tests/behaviour").join(name);
        path.is_dir() || path.with_extension("rs").is_file()
    };
    assert!(named.len() > 15, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_files_of_the_life_of_a_change_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once("## The life of a change").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let files = section.lines().filter_map(|row| row.split('|').nth(2));
    let named = files.flat_map(|files| files.split('`').skip(1).step_by(2)).flat_map(each);
    let named: Vec<String> = named.filter(|name| name.contains('/') && name != "src/").collect();
    assert!(named.len() > 20, "{named:?}");
    let source = root().join("src");
    let is_there = |name: &&String| source.join(name).with_extension("rs").is_file();
    let missing: Vec<_> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// `a/{b,c}` names two.
pub(crate) fn each(name: &str) -> Vec<String> {
    let Some((folder, files)) = name.split_once('{') else { return vec![name.to_owned()] };
    files.trim_end_matches('}').split(',').map(|file| format!("{folder}{file}")).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let pages: HashMap<PathBuf, String> =
        pages().into_iter().map(|page| (page.clone(), fs::read_to_string(page).unwrap())).collect();
    let mut links = 0;
    let mut dead = Vec::new();
    for (page, text) in &pages {
        for link in links_of(text) {
            links += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let target = target.canonicalize().unwrap_or(target);
            let has_heading = heading.is_empty()
                || pages
                    .get(&target)
                    .is_none_or(|text| anchors(text).contains(&heading.to_owned()));
            if !target.exists() || !has_heading {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(links > 150, "{links} links were found");
    assert!(dead.is_empty(), "{dead:#?}");
}

/// The pages of `docs`, and no other, with links that the book can follow.
#[test]
fn the_book_has_every_page_of_docs_and_no_link_that_leaves_it() {
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let text = fs::read_to_string(&summary).unwrap();
    let mut listed: Vec<_> = links_of(&text).map(|link| docs.join(link)).collect();
    listed.sort();
    let mut pages: Vec<_> = pages().into_iter().filter(|it| it.starts_with(&docs)).collect();
    pages.retain(|page| *page != summary);
    pages.sort();
    assert_eq!(listed, pages);
    let texts = pages.iter().map(|page| (page, fs::read_to_string(page).unwrap()));
    let leaving = texts.flat_map(|(page, text)| {
        let links = links_of(&text).map(|link| link.split('#').next().unwrap().to_owned());
        let links = links.filter(|link| !link.is_empty()).collect::<Vec<_>>();
        let target = |link: &String| page.with_file_name(link).canonicalize().unwrap();
        let leaves = |link: &String| !target(link).starts_with(&docs);
        let leaving = links.into_iter().filter(leaves);
        leaving.map(|link| format!("{}: {link}", page.display())).collect::<Vec<_>>()
    });
    let leaving: Vec<_> = leaving.collect();
    assert!(leaving.is_empty(), "{leaving:#?}");
}

/// The documents that people read.
fn pages() -> Vec<PathBuf> {
    let top =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "apiserver/README.md"];
    let folders = ["docs", "docs/from", "docs/operators", "docs/walkthrough", "roperator/docs"]
        .map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|file| file.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    top.map(|name| root().join(name)).into_iter().chain(pages).collect()
}

/// The links within the repository, outside of code.
fn links_of(text: &str) -> impl Iterator<Item = &str> {
    let links = prose(text).flat_map(|line| line.split("](").skip(1));
    links.filter_map(|rest| rest.split(')').next()).filter(|link| !link.contains("://"))
}

/// The anchors that GitHub gives to headings.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
