//! The cost of a handler's look-up of a child by key, by the number of children of one type. A reconcile looks
//! up each child once; the first look-up builds the table. Its floor is the same with a tenth of the children.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use operetta::{
    object::{K8sType, KeptManagers, Object},
    operator::Children,
};
use serde_json::json;

use crate::table::Row;

const FEW: u32 = 1_000;
const MANY: u32 = 10_000;
/// Look-ups in all, for either number of children.
const LOOK_UPS: u32 = 1_000_000;

pub(crate) fn measure() -> Result<Row> {
    let [few, many] = [cost(FEW)?, cost(MANY)?];
    println!("look-ups: {} ns of {FEW} children, {} ns of {MANY}", few.as_nanos(), many.as_nanos());
    let figure = format!("look-up of a child by key, one parent x {MANY} (floor: one x {FEW})");
    let nanoseconds = |time: Duration| format!("{} ns", time.as_nanos());
    let row = Row::times(figure, many, few).floor(nanoseconds(few));
    Ok(Row { value: nanoseconds(many), ..row }.target("O(1): a walk over all has 10.00"))
}

/// The time per look-up; every reconcile has its own children and its own table.
fn cost(count: u32) -> Result<Duration> {
    let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
    let objects = (0..count).map(|number| child(&ty, number)).collect::<Result<Vec<_>>>()?;
    let mut took = Duration::ZERO;
    for _ in 0..LOOK_UPS / count {
        let children = Children::new([(ty.clone(), objects.clone())]);
        let of_type = children.of_type(&ty);
        let start = Instant::now();
        let found = objects.iter().filter(|child| of_type.exists(black_box(child.key())));
        ensure!(found.count() == objects.len(), "each child is found");
        took += start.elapsed();
    }
    Ok(took / LOOK_UPS)
}

fn child(ty: &K8sType, number: u32) -> Result<Object> {
    let name = format!("child-{number}");
    let metadata = json!({"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"});
    Ok(Object::from_value(ty, &json!({"metadata": metadata}), &KeptManagers::default())?)
}
