//! Tables: what `kubectl get` prints.
//!
//! Custom resources have the columns of their definition, built-in types those of the real server.

mod age;
mod cells;
mod columns;
mod default_class;
mod path;
mod printed;

use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) use self::default_class::{default_class, has_default, mark_default};
use self::{
    age::age,
    path::{Budget, Path},
};
use crate::resource::{Column, Origin, Resource};

/// An annotation that only the stored form of a `DaemonSet` has.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
/// How many values the paths of one table may touch, and how many more with each row: hundreds of times what paths of
/// people need.
const BUDGET: usize = 4_000_000;
const BUDGET_OF_ROW: usize = 20_000;

/// Tables whose names are not marked as such.
const NAMES_UNMARKED: [(&str, &str); 2] =
    [("autoscaling", "scales"), ("storagemigration.k8s.io", "storageversionmigrations")];

/// The contents of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableOptions {
    /// Whether the headings are wanted; a watch sends them once.
    pub(crate) headings: bool,
    /// The object part of each row.
    pub(crate) include: Include,
    /// The time that ages are counted to.
    pub(crate) now: Timestamp,
    /// `meta.k8s.io/v1`, or an older one.
    pub(crate) api_version: &'static str,
}

/// The object part of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Include {
    /// Nothing.
    Nothing,
    /// The object's metadata.
    Metadata,
    /// The object.
    Object,
}

/// A column with the way to its cells.
struct Source {
    column: Column,
    cell: Cell,
}

enum Cell {
    Path(Path),
    BuiltIn(fn(&Value, Timestamp) -> Value),
}

/// The table of some objects.
pub(crate) fn render(
    resource: &Resource,
    objects: &[Value],
    metadata: &Value,
    options: TableOptions,
) -> Value {
    let partial = |object: &Value| partial(resource, options.api_version, object);
    with_columns(&sources(resource), objects, metadata, options, &partial)
}

/// The metadata of an object without the rest.
pub(crate) fn partial(resource: &Resource, api_version: &str, object: &Value) -> Value {
    let mut metadata = object["metadata"].clone();
    if resource.kind == "DaemonSet"
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
    {
        annotations.remove(TEMPLATE_GENERATION);
        if annotations.is_empty() {
            metadata.as_object_mut().map(|metadata| metadata.remove("annotations"));
        }
    }
    json!({ "kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": metadata })
}

/// Whether the real server has no columns of its own for a type: then a table without rows has null for them.
pub(crate) fn has_no_printer(resource: &Resource) -> bool {
    !resource.is_custom() && columns::is_plain(&resource.id.group, &resource.id.plural)
}

/// What the age of any object is said to show.
pub(crate) fn description_of_age() -> String {
    columns::descriptions("", "limitranges").skip(1).collect()
}

/// The table of one scale.
pub(crate) fn of_scale(scale: &Value, options: TableOptions) -> Value {
    let metadata = json!({ "resourceVersion": scale["metadata"]["resourceVersion"] });
    let sources = built_in("autoscaling", "scales", columns::SCALE);
    let partial = metadata_of(options.api_version);
    with_columns(&sources, std::slice::from_ref(scale), &metadata, options, &partial)
}

/// The table of the statuses of components.
pub(crate) fn of_components(statuses: &[Value], options: TableOptions) -> Value {
    let sources = built_in("", "componentstatuses", columns::COMPONENT);
    with_columns(&sources, statuses, &json!({}), options, &metadata_of(options.api_version))
}

/// The metadata of what is no resource of its own.
fn metadata_of(version: &'static str) -> impl Fn(&Value) -> Value {
    move |object| {
        json!({
            "kind": "PartialObjectMetadata",
            "apiVersion": version,
            "metadata": object["metadata"],
        })
    }
}

fn with_columns(
    sources: &[Source],
    objects: &[Value],
    metadata: &Value,
    options: TableOptions,
    partial: &dyn Fn(&Value) -> Value,
) -> Value {
    let budget =
        &mut Budget::new(BUDGET.saturating_add(BUDGET_OF_ROW.saturating_mul(objects.len())));
    let row = |object| row(sources, object, options, partial, budget);
    let rows: Vec<Value> = objects.iter().map(row).collect();
    let headings = || sources.iter().map(|source| heading(&source.column)).collect::<Vec<Value>>();
    let headings = options.headings.then(headings);
    json!({
        "kind": "Table",
        "apiVersion": options.api_version,
        "metadata": metadata,
        "columnDefinitions": headings,
        "rows": rows,
    })
}

fn sources(resource: &Resource) -> Vec<Source> {
    if let Origin::Custom(_) = resource.origin {
        // As on the real server, what follows a path that cannot be used is not shown either.
        let declared = resource.columns.iter().map_while(|column| {
            let cell = Cell::Path(Path::parse(&column.json_path)?);
            Some(Source { column: described(column), cell })
        });
        return std::iter::once(name_source()).chain(declared).collect();
    }
    let (group, plural) = (&resource.id.group, &resource.id.plural);
    built_in(group, plural, columns::of(group, plural))
}

/// A column that its author does not describe is described by its path.
fn described(column: &Column) -> Column {
    let mut column = column.clone();
    if column.description.is_empty() {
        let path = &column.json_path;
        column.description =
            format!("Custom resource definition column (in JSONPath format): {path}");
    }
    column
}

/// The name, which every table of custom resources begins with.
fn name_source() -> Source {
    let description = columns::descriptions("apiextensions.k8s.io", "customresourcedefinitions");
    Source {
        column: Column {
            description: description.take(1).collect(),
            ..plain_column("Name", "string", 0)
        },
        cell: Cell::BuiltIn(|object, _| object["metadata"]["name"].clone()),
    }
}

fn built_in(group: &str, plural: &str, all: &[columns::BuiltInColumn]) -> Vec<Source> {
    let mut descriptions = columns::descriptions(group, plural);
    let source = |(name, kind, priority, cell): &columns::BuiltInColumn| {
        let description = descriptions.next().unwrap_or_default().to_owned();
        let mut column = Column { description, ..plain_column(name, kind, *priority) };
        if NAMES_UNMARKED.contains(&(group, plural)) {
            column.format.clear();
        }
        Source { column, cell: Cell::BuiltIn(*cell) }
    };
    all.iter().map(source).collect()
}

fn plain_column(name: &str, kind: &str, priority: i64) -> Column {
    let is_name = matches!(name, "Name" | "Attacher");
    Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        format: if is_name { "name" } else { "" }.to_owned(),
        description: String::new(),
        priority,
        json_path: String::new(),
    }
}

fn heading(column: &Column) -> Value {
    json!({
        "name": column.name,
        "type": column.kind,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    })
}

fn row(
    sources: &[Source],
    object: &Value,
    options: TableOptions,
    partial: &dyn Fn(&Value) -> Value,
    budget: &mut Budget,
) -> Value {
    // A bookmark in a table watch has no row that could be printed, but carries its metadata.
    let cells: Vec<Value> =
        sources.iter().map(|source| cell(source, object, options.now, budget)).collect();
    let beside = match options.include {
        Include::Nothing => Value::Null,
        Include::Object => object.clone(),
        Include::Metadata => partial(object),
    };
    json!({ "cells": cells, "object": beside })
}

fn cell(source: &Source, object: &Value, now: Timestamp, budget: &mut Budget) -> Value {
    match &source.cell {
        Cell::BuiltIn(cell) => cell(object, now),
        Cell::Path(path) => {
            let found = path.first(object, budget);
            let cell =
                found.and_then(|found| printed::cell(&source.column.kind, found, now, budget));
            cell.unwrap_or_default()
        }
    }
}
