//! The attribute that makes a function a test of `operetta-harness`.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// The marks, each with its variant of `operetta_harness::Mark`.
const MARKS: [(&str, &str); 1] = [("server", "Server")];

/// Registers a function without arguments, `async` or not, as a test.
///
/// In parentheses, separated by commas:
///
/// - `paused`: an asynchronous test runs on one thread, and its clock moves only while every task waits for it.
/// - a mark, see `operetta_harness::Mark`.
///
/// With `#[ignore]` below it, it runs only when ignored tests are requested. The reason of `#[ignore = ".."]` is printed.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = function.into_iter().collect();
    match Arguments::read(arguments).and_then(|arguments| registration(&arguments, &tokens)) {
        Ok(registration) => without_ignore(tokens).into_iter().chain(code(&registration)).collect(),
        Err(error) => code(&format!("::core::compile_error! {{ {error:?} }}")),
    }
}

/// What is in the parentheses of the attribute.
#[derive(Default)]
struct Arguments {
    is_paused: bool,
    /// Variants of `operetta_harness::Mark`.
    marks: Vec<&'static str>,
}

impl Arguments {
    fn read(tokens: TokenStream) -> Result<Self, String> {
        let mut arguments = Self::default();
        for token in tokens {
            match token.to_string().as_str() {
                "," => {}
                "paused" => arguments.is_paused = true,
                word => arguments.marks.push(mark(word)?),
            }
        }
        Ok(arguments)
    }
}

fn mark(word: &str) -> Result<&'static str, String> {
    let known = MARKS.iter().find(|(mark, _)| *mark == word);
    known.map(|(_, variant)| *variant).ok_or_else(|| {
        let marks = MARKS.map(|(mark, _)| mark).join(", ");
        format!("unknown argument {word}: use `paused` or a mark ({marks})")
    })
}

/// The call that registers the function.
fn registration(arguments: &Arguments, function: &[TokenTree]) -> Result<String, String> {
    let place =
        function.iter().position(|token| is_word(token, "fn")).ok_or("a test is a function")?;
    let is_async = function[..place].iter().any(|token| is_word(token, "async"));
    let name = &function[place + 1];
    let run = match (is_async, arguments.is_paused) {
        (true, true) => format!("|| ::operetta_harness::block_on_paused({name}())"),
        (true, false) => format!("|| ::operetta_harness::block_on({name}())"),
        (false, true) => return Err("only an asynchronous test has a clock to pause".to_owned()),
        (false, false) => name.to_string(),
    };
    let ignored = match function.iter().find_map(ignore_attribute) {
        Some(attribute) => format!("::core::option::Option::Some({})", reason(&attribute)),
        None => "::core::option::Option::None".to_owned(),
    };
    let marks = arguments.marks.join(", ");
    Ok(format!("::operetta_harness::register! {{ {name}, [{marks}], {ignored}, {run} }}"))
}

/// The function without its `#[ignore]`, which libtest reads and this harness does not.
fn without_ignore(mut function: Vec<TokenTree>) -> Vec<TokenTree> {
    if let Some(at) = function.iter().position(|token| ignore_attribute(token).is_some()) {
        // The attribute is `#` and a group in brackets.
        function.drain(at - 1..=at);
    }
    function
}

/// The brackets of `#[ignore]`.
fn ignore_attribute(token: &TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = token else { return None };
    let first = group.stream().into_iter().next()?;
    let is_ignore = group.delimiter() == Delimiter::Bracket && is_word(&first, "ignore");
    is_ignore.then(|| group.clone())
}

/// The literal of `ignore = "reason"`.
fn reason(attribute: &Group) -> String {
    attribute.stream().into_iter().nth(2).map_or("\"\"".to_owned(), |reason| reason.to_string())
}

fn code(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}
