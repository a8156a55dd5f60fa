//! From the text of a template to nodes.
//!
//! Each function takes what is left of the text, and returns what is left behind what it has read.

use super::{
    compare::Operator,
    node::{Condition, End, Node, Slice},
    unquote::unquote,
};

/// How deep actions may be in filters and in brackets. Quotes allow two levels; there is no text with so many.
const DEPTH_LIMIT: usize = 8;

/// What was read, and the rest.
type Read<'a, T> = Option<(T, &'a str)>;

/// The actions of a template, and the texts around them; `None` for what Kubernetes cannot parse.
pub(super) fn parse(text: &str) -> Option<Vec<Vec<Node>>> {
    template(text, 0)
}

fn template(text: &str, depth: usize) -> Option<Vec<Vec<Node>>> {
    if depth > DEPTH_LIMIT {
        return None;
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once('{') {
        parts.extend(plain(before));
        let (nodes, after) = action(inside, depth)?;
        parts.push(nodes);
        rest = after;
    }
    parts.extend(plain(rest));
    Some(parts)
}

fn plain(text: &str) -> Option<Vec<Node>> {
    (!text.is_empty()).then(|| vec![Node::Text(text.to_owned())])
}

/// The nodes of a text that stands for an action of its own.
fn nested(text: &str, depth: usize) -> Option<Vec<Node>> {
    template(&format!("{{{text}}}"), depth + 1)?.into_iter().next()
}

/// What is between an opening and a closing brace.
fn action(text: &str, depth: usize) -> Read<'_, Vec<Node>> {
    let mut nodes = Vec::new();
    let mut rest = text;
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Some((nodes, after));
        }
        let after = step(rest, &mut nodes, depth)?;
        // A step that takes nothing would be taken for ever.
        debug_assert!(after.len() < rest.len(), "no progress at {rest:?}");
        rest = Some(after).filter(|after| after.len() < rest.len())?;
    }
}

fn step<'a>(rest: &'a str, nodes: &mut Vec<Node>, depth: usize) -> Option<&'a str> {
    if let Some(inside) = rest.strip_prefix("[?(") {
        let (node, after) = filter(inside, depth)?;
        nodes.push(node);
        return Some(after);
    }
    if let Some(after) = rest.strip_prefix("..") {
        return recursive(after, nodes);
    }
    let first = rest.chars().next()?;
    let after = &rest[first.len_utf8()..];
    let (node, after) = match first {
        ' ' | '@' | '$' => return Some(after),
        '[' => {
            let (found, after) = brackets(after, depth)?;
            nodes.extend(found);
            return Some(after);
        }
        '"' | '\'' => quoted(rest, first)?,
        '.' => field(after),
        '+' | '-' => number(rest)?,
        digit if digit.is_numeric() => number(rest)?,
        letter if is_word(letter) => word(rest),
        _ => return None,
    };
    nodes.push(node);
    Some(after)
}

/// Behind two dots.
fn recursive<'a>(after: &'a str, nodes: &mut Vec<Node>) -> Option<&'a str> {
    if nodes.last() == Some(&Node::Recursive) {
        return None;
    }
    nodes.push(Node::Recursive);
    if !after.starts_with(is_word) {
        return Some(after);
    }
    let (node, after) = field(after);
    nodes.push(node);
    Some(after)
}

/// A name, in which a backslash makes a character belong to it that would end it.
fn field(text: &str) -> (Node, &str) {
    let mut is_escaped = false;
    let ends = |character: char| {
        let was_escaped = std::mem::replace(&mut is_escaped, false);
        is_escaped = !was_escaped && character == '\\';
        !was_escaped && is_end(character)
    };
    let end = text.find(ends).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let node = match name {
        "*" => Node::Wildcard,
        name => Node::Field(name.replace('\\', "")),
    };
    (node, rest)
}

fn number(text: &str) -> Read<'_, Node> {
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].find(|c: char| c != '.' && !c.is_numeric());
    let (number, rest) = text.split_at(digits.map_or(text.len(), |digits| sign + digits));
    if let Ok(integer) = number.parse() {
        return Some((Node::Integer(integer), rest));
    }
    let float: f64 = number.parse().ok()?;
    float.is_finite().then_some((Node::Float(float), rest))
}

fn word(text: &str) -> (Node, &str) {
    let (word, rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    match word.parse() {
        Ok(truth) => (Node::Bool(truth), rest),
        Err(_) => (Node::Word, rest),
    }
}

fn quoted(text: &str, quote: char) -> Read<'_, Node> {
    let inside = &text[1..];
    let is_end = |at: &usize| !inside[..*at].ends_with('\\');
    let end = inside.match_indices(quote).map(|(at, _)| at).find(is_end)?;
    let (value, rest) = (&inside[..end], &inside[end + 1..]);
    let text = Some(value).filter(|value| !value.contains('\n'))?;
    Some((Node::Text(unquote(text, quote)?), rest))
}

/// Behind an opening bracket: an index, a slice, a name in quotes, or several of them.
fn brackets(text: &str, depth: usize) -> Read<'_, Vec<Node>> {
    let (inside, rest) = text.split_once(']').filter(|(inside, _)| !inside.contains('\n'))?;
    if !inside.contains(',') {
        return Some((selection(inside, depth)?, rest));
    }
    let each = inside.split(',').map(|one| selection(one.trim_matches(' '), depth));
    let union = Node::Union(each.collect::<Option<_>>()?);
    Some((vec![union], rest))
}

fn selection(inside: &str, depth: usize) -> Option<Vec<Node>> {
    let name = inside.strip_prefix('\'').and_then(|inside| inside.strip_suffix('\''));
    if let Some(name) = name.filter(|name| !name.contains('\'')) {
        return nested(&format!(".{name}"), depth);
    }
    slice(if inside == "*" { ":" } else { inside }).map(|slice| vec![Node::Slice(slice)])
}

fn slice(text: &str) -> Option<Slice> {
    let mut parts = text.split(':').map(bound);
    let start = parts.next()?.ok()?;
    let end = match parts.next() {
        None => End::AfterStart,
        Some(end) => end.ok()?.map_or(End::Open, End::Given),
    };
    let step = parts.next().unwrap_or(Ok(None)).ok()?;
    parts.next().is_none().then_some(Slice { start, end, step })
}

struct NoNumber;

/// A number, or nothing.
fn bound(text: &str) -> Result<Option<i64>, NoNumber> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    match text {
        "" => Ok(None),
        _ if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map(Some).map_err(|_| NoNumber)
        }
        _ => Err(NoNumber),
    }
}

/// Behind `[?(`.
fn filter(text: &str, depth: usize) -> Read<'_, Node> {
    let (inside, rest) = text.split_at(end_of_filter(text)?);
    let rest = rest.strip_prefix(")]")?;
    let Some((left, operator, right)) = comparison(inside) else {
        return Some((Node::Filter(nested(inside, depth)?, Condition::Exists), rest));
    };
    let left = nested(left, depth)?;
    let right = nested(right, depth)?;
    Some((Node::Filter(left, Condition::Compares(Operator::of(operator), right)), rest))
}

/// The first closing parenthesis that is not in the first pair of quotes.
fn end_of_filter(text: &str) -> Option<usize> {
    let (mut quote, mut is_closed) = (None, false);
    for (at, character) in text.char_indices() {
        match character {
            '\n' => return None,
            '"' | '\'' if quote.is_none() => quote = Some(character),
            '"' | '\'' if quote == Some(character) => {
                is_closed |= !text[..at].ends_with('\\');
            }
            ')' if quote.is_some() == is_closed => return Some(at),
            _ => {}
        }
    }
    None
}

/// The sides of an operator. Both have at least one character; the right one may begin like an operator.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_sign = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let start = text.find(is_sign).filter(|start| *start > 0)?;
    let (left, rest) = text.split_at(start);
    let end = rest.find(|c| !is_sign(c)).unwrap_or(rest.len() - 1);
    let (operator, right) = rest.split_at(end);
    (!operator.is_empty()).then_some((left, operator, right))
}

/// What cannot be in a name.
fn is_end(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}
