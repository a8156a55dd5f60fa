//! The attribute that makes a function a test of `operetta-harness`.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Registers a function without arguments, `async` or not, as a test.
///
/// With `#[ignore]` below it, it runs only when ignored tests are requested.
#[proc_macro_attribute]
pub fn test(_: TokenStream, function: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = function.into_iter().collect();
    let Some(place) = tokens.iter().position(|token| is_word(token, "fn")) else {
        return code("compile_error! { \"a test is a function\" }");
    };
    let (kept, is_ignored) = without_ignore(&tokens);
    let is_async = tokens[..place].iter().any(|token| is_word(token, "async"));
    let (name, how) = (&tokens[place + 1], if is_async { "async" } else { "" });
    let call = code(&format!("::operetta_harness::register! {{ {name}, {is_ignored}, {how} }}"));
    kept.into_iter().chain(call).collect()
}

fn code(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// The function without its `#[ignore]`, and whether it had one.
fn without_ignore(tokens: &[TokenTree]) -> (Vec<TokenTree>, bool) {
    let is_ignore = |token: &TokenTree| {
        let TokenTree::Group(group) = token else { return false };
        let is_attribute = group.delimiter() == Delimiter::Bracket;
        is_attribute
            && group.stream().into_iter().next().is_some_and(|first| is_word(&first, "ignore"))
    };
    let Some(at) = tokens.iter().position(is_ignore) else { return (tokens.to_vec(), false) };
    // The attribute is `#` and a group in brackets.
    ([&tokens[..at - 1], &tokens[at + 1..]].concat(), true)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}
