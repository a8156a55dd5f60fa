//! What a user needs the permission for to send a request: its path, or, where it is about the parents of one namespace,
//! these parents.

use super::{access::Target, endpoint::Endpoint};
use crate::board::Board;

/// One of these permissions suffices. The `path` is decoded; `endpoint` is the one that answers, if there is one.
pub(super) fn of(
    endpoint: Option<&Endpoint>,
    path: &str,
    query: &str,
    board: Option<&Board>,
) -> Vec<Target> {
    let by_namespace = endpoint.filter(|endpoint| endpoint.by_namespace);
    let parents = by_namespace.zip(board).and_then(|(it, board)| parents(it, path, query, board));
    [Some(Target::path(path)), parents].into_iter().flatten().collect()
}

fn parents(endpoint: &Endpoint, path: &str, query: &str, board: &Board) -> Option<Target> {
    // What the endpoint does not read restricts nothing.
    let reads = |name: &str| endpoint.query.iter().any(|parameter| parameter.name == name);
    let given = |name: &str| if reads(name) { in_query(query, name) } else { None };
    let named = |name: &str| in_path(endpoint, path, name).or_else(|| given(name));
    let operator = board.operator(&named("operator")?)?;
    let parent = operator.info.config.parent.clone();
    let (namespace, name) = (named("namespace")?, named("name"));
    // The handler decodes what is still encoded.
    let is_name = |text: &str| !text.is_empty() && !text.contains(['/', '%']);
    let is_one =
        parent.is_namespaced() && is_name(&namespace) && name.as_deref().is_none_or(is_name);
    is_one.then_some(Target::Parents { parent, namespace, name })
}

fn in_path(endpoint: &Endpoint, path: &str, name: &str) -> Option<String> {
    let mut parts = endpoint.path.split('/').zip(path.split('/'));
    let is_it =
        |part: &str| part.strip_prefix('{').and_then(|it| it.strip_suffix('}')) == Some(name);
    parts.find(|(part, _)| is_it(part)).map(|(_, value)| value.to_owned())
}

/// The only value of this name.
fn in_query(query: &str, name: &str) -> Option<String> {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(it, _)| it == name);
    let value = values.next().map(|(_, value)| value.into_owned());
    value.filter(|_| values.next().is_none())
}
