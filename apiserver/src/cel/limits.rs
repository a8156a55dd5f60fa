//! How long and how deep an expression may be, which is known before it is parsed: parsers and checkers call themselves
//! for what is inside, and the stack of a thread is small.

use std::{panic, thread};

use cel::{
    IdedExpr,
    common::ast::{EntryExpr, Expr},
};

/// The longest expression, in characters, as in the real server.
const LENGTH: usize = 100_000;
/// How often each kind of operator may be inside of another one, as in the real server.
const DEPTH: usize = 250;
/// Expressions above this depth are evaluated with more stack than threads have.
const FLAT: usize = 20;
/// Without optimisation the parser takes 180 kB for each pair of brackets.
const STACK: usize = 64 << 20;

/// What a place of the source is in, by the kinds of operators.
#[derive(Debug, Clone, Copy, Default)]
struct Depths {
    brackets: usize,
    conditions: usize,
    relations: usize,
    sums: usize,
    members: usize,
}

/// How deep the expression is at most; an error if it is too long or too deep.
pub(super) fn depth(source: &str) -> Result<usize, String> {
    let length = source.chars().count();
    if length > LENGTH {
        let what = "expression code point size exceeds limit";
        return Err(format!("{what}: size: {length}, limit {LENGTH}"));
    }
    let mut deepest = 0;
    let mut open: Vec<(u8, Depths)> = Vec::new();
    let mut at = Depths::default();
    for token in Tokens(source) {
        at = after(token, at, &mut open);
        deepest = deepest.max(at.total());
        if at.is_too_deep() {
            return Err(too_deep());
        }
    }
    Ok(deepest)
}

/// Where the expression is behind a token. `open` are the brackets around it, with what they are in.
fn after(token: u8, at: Depths, open: &mut Vec<(u8, Depths)>) -> Depths {
    let start = open.last().map_or(Depths::default(), |(_, outside)| outside.inside());
    let Depths { brackets, conditions, relations, sums, members } = at;
    match token {
        b'(' | b'[' | b'{' => {
            let outside = Depths { members: members + usize::from(token == b'['), ..at };
            open.push((token, outside));
            outside.inside()
        }
        // One that closes nothing is passed over by the parser.
        b')' | b']' | b'}' => {
            open.pop_if(|(bracket, _)| closes(*bracket, token)).map_or(at, |(_, outside)| outside)
        }
        b',' => start,
        b'?' => Depths { brackets, conditions: conditions + 1, ..start },
        // Long chains of these are balanced.
        b'&' | b'|' | b':' => Depths { brackets, conditions, ..start },
        b'=' | b'<' | b'>' => Depths { brackets, conditions, relations: relations + 1, ..start },
        b'+' | b'-' | b'*' | b'/' | b'%' => Depths { sums: sums + 1, members: start.members, ..at },
        b'.' => Depths { members: members + 1, ..at },
        _ => at,
    }
}

/// What ends the part of an expression that a source stops in.
pub(super) fn end_of_part(source: &str) -> &'static str {
    let mut open = Vec::new();
    for token in Tokens(source) {
        match token {
            b'(' | b'[' | b'{' | b'?' => open.push(token),
            b')' | b']' | b'}' => {
                let begin = open.iter().rposition(|begin| closes(*begin, token));
                open.truncate(begin.unwrap_or(open.len()));
            }
            b':' | b',' => {
                let of_condition = open.pop_if(|begin| *begin == b'?');
                let of_entry = open.pop_if(|begin| *begin == b':');
                // Behind the key of an entry is its value.
                if of_condition.or(of_entry).is_none() && token == b':' && open.ends_with(b"{") {
                    open.push(token);
                }
            }
            _ => {}
        }
    }
    match open.last() {
        None => "<EOF>",
        Some(b'(') => "')'",
        Some(b'[') => "']'",
        Some(b':') => "{'}', ','}",
        Some(_) => "':'",
    }
}

/// Whether an expression is deeper than what is done with it bears.
pub(super) fn check(expression: &IdedExpr) -> Result<(), String> {
    if is_deeper(expression, DEPTH) {
        return Err(too_deep());
    }
    Ok(())
}

/// Does what needs as much stack as a compiled expression of this depth.
pub(super) fn with_stack_for<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> T {
    if depth <= FLAT { work() } else { with_stack(work) }
}

/// Does what needs as much stack as the deepest expression.
pub(super) fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.expect("the system has a thread for an expression");
        thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

fn too_deep() -> String {
    format!("expression recursion limit exceeded: {DEPTH}")
}

fn closes(bracket: u8, end: u8) -> bool {
    matches!((bracket, end), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
}

impl Depths {
    fn inside(self) -> Self {
        Self { brackets: self.brackets + 1, ..self }
    }

    fn total(self) -> usize {
        let Self { brackets, conditions, relations, sums, members } = self;
        brackets + conditions + relations + sums + members
    }

    fn is_too_deep(self) -> bool {
        let Self { brackets, conditions, relations, sums, members } = self;
        [brackets, conditions, relations, sums, members].into_iter().any(|depth| depth > DEPTH)
    }
}

fn is_deeper(expression: &IdedExpr, limit: usize) -> bool {
    let Some(limit) = limit.checked_sub(1) else { return true };
    let below = |inner: &IdedExpr| is_deeper(inner, limit);
    match &expression.expr {
        Expr::Call(call) => {
            call.target.iter().any(|target| below(target)) || call.args.iter().any(below)
        }
        Expr::Select(select) => below(&select.operand),
        Expr::List(list) => list.elements.iter().any(below),
        Expr::Comprehension(fold) => {
            [&fold.iter_range, &fold.accu_init, &fold.loop_cond, &fold.loop_step, &fold.result]
                .into_iter()
                .any(below)
        }
        Expr::Map(map) => map.entries.iter().any(|entry| is_entry_deeper(&entry.expr, limit)),
        Expr::Struct(message) => {
            message.entries.iter().any(|entry| is_entry_deeper(&entry.expr, limit))
        }
        _ => false,
    }
}

fn is_entry_deeper(entry: &EntryExpr, limit: usize) -> bool {
    match entry {
        EntryExpr::StructField(field) => is_deeper(&field.value, limit),
        EntryExpr::MapEntry(entry) => {
            is_deeper(&entry.key, limit) || is_deeper(&entry.value, limit)
        }
    }
}

/// The bytes of an expression that are not in texts, comments or names.
struct Tokens<'a>(&'a str);

impl Iterator for Tokens<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        loop {
            let first = self.0.chars().next()?;
            let rest = &self.0[first.len_utf8()..];
            match first {
                '\'' | '"' => self.0 = behind_text(self.0, first, false),
                letter if letter.is_alphabetic() || letter == '_' => {
                    let end = self.0.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
                    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
                    self.0 = match quote {
                        Some(quote) => behind_text(rest, quote, word.ends_with(['r', 'R'])),
                        None => rest,
                    };
                    if word == "in" {
                        return Some(b'=');
                    }
                }
                '/' if rest.starts_with('/') => {
                    self.0 = rest.split_once('\n').map_or("", |(_, rest)| rest);
                }
                // The second half of an operator.
                '=' | '&' | '|' if rest.starts_with(first) => {
                    self.0 = &rest[1..];
                    return u8::try_from(first).ok();
                }
                '!' | '<' | '>' if rest.starts_with('=') => {
                    self.0 = &rest[1..];
                    return Some(b'=');
                }
                // An optional member.
                '.' | '[' if rest.starts_with('?') => {
                    self.0 = &rest[1..];
                    return u8::try_from(first).ok();
                }
                // A negation is no relation, and many of them are one.
                '!' => self.0 = rest,
                _ => {
                    self.0 = rest;
                    if let Some(byte) = u8::try_from(first).ok().filter(u8::is_ascii_punctuation) {
                        return Some(byte);
                    }
                }
            }
        }
    }
}

/// What follows a text in quotes. A text ends with its line, unless it has three quotes on either side.
fn behind_text(source: &str, quote: char, is_raw: bool) -> &str {
    let three = [quote; 3].iter().collect::<String>();
    if let Some(inside) = source.strip_prefix(three.as_str())
        && let Some(rest) = behind_end(inside, &three, is_raw)
    {
        return rest;
    }
    let inside = &source[1..];
    let line = inside.split('\n').next().unwrap_or_default();
    match behind_end(line, &quote.to_string(), is_raw) {
        Some(rest) => &inside[line.len() - rest.len()..],
        None => &inside[line.len()..],
    }
}

fn behind_end<'a>(inside: &'a str, end: &str, is_raw: bool) -> Option<&'a str> {
    let mut is_escaped = false;
    for (at, character) in inside.char_indices() {
        if !is_escaped && inside[at..].starts_with(end) {
            return Some(&inside[at + end.len()..]);
        }
        is_escaped = !is_raw && !is_escaped && character == '\\';
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_are_long_or_deep_are_refused_before_they_are_parsed() {
        let too_deep = Err("expression recursion limit exceeded: 250".to_owned());
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("1+", ""),
            ("true?1:", ""),
            ("a.", ""),
            ("a==", ""),
            ("a in ", ""),
        ] {
            let deep =
                |times: usize| depth(&format!("{}1{}", open.repeat(times), close.repeat(times)));
            assert_eq!(deep(251), too_deep, "{open}");
            assert_eq!(deep(250), Ok(250 * (1 + usize::from(open == "["))), "{open}");
        }
        assert_eq!(depth(&"(]".repeat(300)), too_deep);
        assert_eq!(depth(&format!("'''\n{}", "(".repeat(300))), too_deep);
        assert_eq!(depth(&r"r'\'(".repeat(300)), too_deep);
        assert_eq!(depth(&"// it's\n(".repeat(300)), too_deep);
        let long = "expression code point size exceeds limit: size: 100001, limit 100000";
        assert_eq!(depth(&"é".repeat(100_001)), Err(long.to_owned()));
    }

    #[test]
    fn many_conditions_beside_each_other_are_not_deep() {
        let many = vec!["self.a.b[0] == 'x(((' && !(self.c + 1 > 2)"; 500].join(" || ");
        assert!(depth(&many).is_ok_and(|depth| depth < 12), "{:?}", depth(&many));
        assert_eq!(depth(&format!("[{}]", vec!["a.b"; 500].join(", "))), Ok(3));
    }

    #[test]
    fn any_text_has_a_depth_or_is_refused() {
        const TOKENS: [&str; 22] = [
            "(", ")", "[", "]", "{", "}", "'", "\"", "'''", "\"\"\"", "\\", "r'", "//", "\n", ",",
            "?", ":", "&&", "||", "==", ".", "a",
        ];
        let parser = |text: &str| drop(depth(text));
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
