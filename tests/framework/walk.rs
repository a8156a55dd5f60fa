//! The recording in the README: the commands of `docs/explain.md`, which a test runs, as an animated picture.
//!
//! ```text
//! UPDATE_EXPECT=1 cargo test --test framework walk
//! ```

use std::{fmt::Write, fs};

use crate::proofs::root;

/// The heading above the commands.
const HEADING: &str = "## One trouble and its cure";
const PICTURE: &str = "docs/screenshots/walk.svg";

/// Sizes in pixels.
const WIDTH: usize = 880;
const LINE: usize = 21;
const TOP: usize = 52;
const LEFT: usize = 20;
/// How long a command is shown before its output, and the output before the next command, in seconds.
const COMMAND: f64 = 1.0;
const OUTPUT: f64 = 1.6;
/// How long all of it stays before it begins again, in seconds.
const END: f64 = 6.0;

const STYLE: &str = "\
text{font:13.5px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#c9d1d9;white-space:pre}\
.c{fill:#fff;font-weight:600}.p{fill:#7ee787}.k{fill:#79c0ff}\
@media(prefers-reduced-motion:no-preference){g{opacity:0;animation-timing-function:step-end;\
animation-iteration-count:infinite;animation-name:a;animation-duration:var(--d)}}";

/// A command with its output.
struct Shown<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

#[test]
fn the_recording_shows_the_commands_of_the_page() {
    let page = fs::read_to_string(root().join("docs/explain.md")).unwrap();
    let (_, rest) = page.split_once(HEADING).unwrap();
    let (_, rest) = rest.split_once("```console\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let expected = picture(&commands(block));
    let file = root().join(PICTURE);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, expected).unwrap();
        return;
    }
    let found = fs::read_to_string(file).unwrap();
    assert_eq!(found, expected, "UPDATE_EXPECT=1 writes {PICTURE}");
}

fn commands(block: &str) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => shown.push(Shown { command, output: Vec::new() }),
            None => shown.last_mut().unwrap().output.push(line),
        }
    }
    shown
}

fn picture(shown: &[Shown<'_>]) -> String {
    let lines: usize = shown.iter().map(|it| 1 + it.output.len()).sum();
    let height = TOP + lines * LINE + 10;
    let all = shown.iter().fold(END, |all, it| all + COMMAND + after(it));
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-label=\"A terminal: a parent is stuck, explained, cured, and ready\" style=\"--d:{all}s\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"10\" fill=\"#0d1117\"/>\n\
         <circle cx=\"22\" cy=\"20\" r=\"6\" fill=\"#ff5f57\"/><circle cx=\"42\" cy=\"20\" r=\"6\" fill=\"#febc2e\"/>\
         <circle cx=\"62\" cy=\"20\" r=\"6\" fill=\"#28c840\"/>\n"
    );
    let (mut style, mut groups) = (STYLE.to_owned(), String::new());
    let (mut at, mut y, mut number) = (0.3, TOP, 0);
    let mut group = |at: f64, text: &str| {
        // Each group has its own frames: all begin again at the same time.
        let percent = 100.0 * at / all;
        let _ = write!(
            style,
            "@keyframes a{number}{{0%{{opacity:0}}{percent:.2}%{{opacity:1}}}}.g{number}{{animation-name:a{number}}}"
        );
        let _ = writeln!(groups, "<g class=\"g{number}\">{text}</g>");
        number += 1;
    };
    for one in shown {
        let command = format!("<tspan class=\"p\">$</tspan> {}", escaped(one.command));
        group(at, &format!("<text class=\"c\" x=\"{LEFT}\" y=\"{y}\">{command}</text>"));
        y += LINE;
        let mut output = String::new();
        for line in &one.output {
            let _ = write!(output, "<text x=\"{LEFT}\" y=\"{y}\">{}</text>", marked(line));
            y += LINE;
        }
        group(at + COMMAND, &output);
        at += COMMAND + after(one);
    }
    let _ = write!(picture, "<style>{style}</style>\n{groups}</svg>\n");
    picture
}

/// More output takes longer to read.
fn after(shown: &Shown<'_>) -> f64 {
    OUTPUT + f64::from(u32::try_from(shown.output.len()).unwrap()) * 0.5
}

/// The name at the beginning of a line in a colour.
fn marked(line: &str) -> String {
    match line.split_once(':') {
        Some((name, rest)) if ["What", "Why", "Do this"].contains(&name) => {
            format!("<tspan class=\"k\">{name}:</tspan>{}", escaped(rest))
        }
        _ => escaped(line),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
