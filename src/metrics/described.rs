//! Descriptions of all metrics, for documentation and to check dashboards.

use prometheus::{
    Registry, Result,
    core::{Collector, Desc},
};

/// The description of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricDescription {
    /// Its name; that of a histogram is the stem of `_bucket`, `_sum` and `_count`.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: String,
    /// Its labels, by name.
    pub labels: Vec<String>,
    /// Its help text.
    pub help: String,
}

/// A registry that remembers descriptions: `prometheus` lists only metrics that have a value.
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
