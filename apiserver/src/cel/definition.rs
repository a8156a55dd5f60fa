//! Validates an `openAPIV3Schema`: its keywords, and its rules if all keywords inside of a schema are right.
//!
//! Errors of rules come after all others, as on the real server.

use serde_json::Value;

use super::{
    judge::{Judge, Place},
    rule_form,
};
use crate::schema::{
    FieldError, FieldPath, Strictness,
    keywords::{self, Context, Inner, Step},
};

/// What is done with the rules of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compile {
    /// Nothing: something else is wrong with the schema.
    No,
    Yes,
    /// They may be too expensive alone: the schema was accepted before.
    Unchanged,
}

/// The errors of the keywords and rules of an `openAPIV3Schema` at `path`, and those of the cost of all rules.
pub(crate) fn errors(
    open_api: &Value,
    path: &FieldPath,
    strictness: &Strictness,
    compile: Compile,
) -> (Vec<FieldError>, Vec<FieldError>) {
    let mut walk = Walk { strictness, judge: Judge::new(compile == Compile::Unchanged) };
    let root = (compile != Compile::No).then(Place::root);
    let found = walk.visit(open_api, path, &Context::root(), root.as_ref());
    let mut errors = found.keywords;
    errors.extend(found.rules);
    (errors, walk.judge.total_errors(path))
}

struct Walk<'a> {
    strictness: &'a Strictness,
    judge: Judge,
}

#[derive(Default)]
struct Found {
    keywords: Vec<FieldError>,
    rules: Vec<FieldError>,
}

impl Walk<'_> {
    fn visit(
        &mut self,
        schema: &Value,
        path: &FieldPath,
        context: &Context,
        place: Option<&Place>,
    ) -> Found {
        let keywords = keywords::before(schema, path, context, self.strictness);
        let mut found = Found { keywords, rules: Vec::new() };
        let inside = place.map(|place| place.enter(schema, path));
        for Inner { schema, path, context, step } in keywords::inside(schema, path, context) {
            let place = inside.as_ref().and_then(|inside| match step {
                Step::Values => Some(inside.values(schema)),
                Step::Items => Some(inside.items(schema)),
                Step::Property(name) => Some(inside.property(name, schema)),
                Step::Branch => None,
            });
            let inner = self.visit(schema, &path, &context, place.as_ref());
            found.keywords.extend(inner.keywords);
            found.rules.extend(inner.rules);
        }
        found.keywords.extend(keywords::after(schema, path, self.strictness));
        found.keywords.extend(rule_form::errors(schema, path));
        if let Some(inside) = inside.filter(|_| found.keywords.is_empty()) {
            found.rules.extend(self.judge.compile(&inside));
        }
        found
    }
}
