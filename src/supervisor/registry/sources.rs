//! The related types that operators read: from the store of a watched type, or from watches of their own.

use crate::{
    actors::{OperatorHandle, RelatedHandle},
    execute::Gone,
    object::K8sType,
    operator::{OperatorConfig, OperatorName},
    related::{Source, SourceSpec},
    supervisor::{
        demand::{self, Watches},
        registry::types::Types,
        wiring::Wiring,
    },
};

#[derive(Default)]
pub(super) struct Sources(Vec<Reading>);

struct Reading {
    source: Source,
    /// Its actor, unless a watch that exists for other reasons has all objects.
    own: Option<(RelatedHandle, Gone)>,
}

impl Sources {
    /// The related types that an operator reads from a watch that exists for other reasons.
    pub(super) fn whole_for(&self, config: &OperatorConfig, watches: &Watches) -> Vec<K8sType> {
        let is_whole = |spec: &SourceSpec| match self.find(spec) {
            Some(known) => known.own.is_none(),
            None => demand::has_all(watches, spec),
        };
        demand::source_specs(config).filter(is_whole).map(|spec| spec.ty).collect()
    }

    /// The sources of an operator. Those that were not read before are opened.
    pub(super) fn open(
        &mut self,
        config: &OperatorConfig,
        whole: &[K8sType],
        (types, wiring): (&Types, &Wiring),
    ) -> Vec<Source> {
        for spec in demand::source_specs(config) {
            if self.find(&spec).is_some() {
                continue;
            }
            let store = types.find(&spec.ty).filter(|_| whole.contains(&spec.ty));
            let reading = if let Some(store) = store {
                Reading { source: Source::of_store(spec, store.reader()), own: None }
            } else {
                wiring.announce_types(&[&spec.ty]);
                let source = Source::new(spec);
                Reading { own: Some(wiring.start_related(&source)), source }
            };
            self.0.push(reading);
        }
        let found = demand::source_specs(config).filter_map(|spec| self.find(&spec));
        found.map(|reading| reading.source.clone()).collect()
    }

    /// Closes the watches that none of these operators reads. Returns their types.
    pub(super) fn close_unread<'a>(
        &mut self,
        readers: impl Iterator<Item = &'a OperatorConfig>,
        wiring: &Wiring,
    ) -> Vec<(K8sType, Gone)> {
        let read: Vec<SourceSpec> = readers.flat_map(demand::source_specs).collect();
        let is_unread = |reading: &mut Reading| !read.contains(reading.source.spec());
        let unread: Vec<Reading> = self.0.extract_if(.., is_unread).collect();
        let close = |Reading { source, own }: Reading| {
            let (reflector, gone) = own?;
            reflector.stop();
            wiring.board.remove_source(source.spec());
            Some((source.spec().ty.clone(), gone))
        };
        unread.into_iter().filter_map(close).collect()
    }

    pub(super) fn is_watched(&self, ty: &K8sType) -> bool {
        self.0.iter().any(|reading| reading.own.is_some() && reading.source.spec().ty == *ty)
    }

    pub(super) fn join(
        &self,
        config: &OperatorConfig,
        name: &OperatorName,
        operator: &OperatorHandle,
    ) {
        for spec in demand::source_specs(config) {
            if let Some((reflector, _)) = self.find(&spec).and_then(|it| it.own.as_ref()) {
                reflector.join(name.clone(), operator);
            }
        }
    }

    pub(super) fn part(&self, name: &OperatorName) {
        let own = self.0.iter().filter_map(|reading| reading.own.as_ref());
        own.for_each(|(reflector, _)| reflector.part(name.clone()));
    }

    fn find(&self, spec: &SourceSpec) -> Option<&Reading> {
        self.0.iter().find(|reading| reading.source.spec() == spec)
    }
}
