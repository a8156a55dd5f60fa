//! What there is to be measured, in words: for documentation, and to check dashboards against.

use prometheus::{
    Registry, Result,
    core::{Collector, Desc},
};

/// A metric as `/metrics` shows it once it has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricDescription {
    /// Its name; that of a histogram is the stem of `_bucket`, `_sum` and `_count`.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: String,
    /// Its labels, by name.
    pub labels: Vec<String>,
    /// What it says.
    pub help: String,
}

/// A registry that remembers what it holds: `prometheus` shows only what has a value already.
pub(super) struct Registrar {
    pub(super) registry: Registry,
    pub(super) described: Vec<MetricDescription>,
}

impl Registrar {
    pub(super) fn new() -> Self {
        Self { registry: Registry::new(), described: Vec::new() }
    }

    pub(super) fn register<C: Collector + 'static>(&mut self, collector: C) -> Result<()> {
        let families = collector.collect();
        for desc in collector.desc() {
            let family = families.iter().find(|family| family.name() == desc.fq_name);
            let kind = family.map(|family| format!("{:?}", family.get_field_type()));
            self.described.push(MetricDescription::of(desc, &kind.unwrap_or_default()));
        }
        self.registry.register(Box::new(collector))
    }
}

impl MetricDescription {
    fn of(desc: &Desc, kind: &str) -> Self {
        let mut labels = desc.variable_labels.clone();
        labels.sort_unstable();
        let (name, help) = (desc.fq_name.clone(), desc.help.clone());
        Self { name, kind: kind.to_lowercase(), labels, help }
    }
}
