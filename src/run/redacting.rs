//! What is hidden in texts that the handler and the server wrote during a reconcile: the secrets of the parent and of the
//! related objects, of the children as they were and are, and as the handler returned them. A server that refuses a child
//! may quote it.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{Effect, module_view::View, reconcile::Reconcile};
use crate::{
    object::{K8sType, Object, Redactor, SecretFields, SecretValues},
    operator::{Children, DesiredChild},
    reply::{ApiError, TypeSchema},
};

/// The secrets of a reconcile, as far as they are known.
#[derive(Default)]
struct Secrets {
    values: SecretValues,
    /// The schemas of the types that may be custom; `None` for a type whose schema must be read.
    schemas: BTreeMap<K8sType, Option<Arc<TypeSchema>>>,
}

impl Reconcile {
    /// Keeps what the handler returned that may be secret.
    pub(super) fn keep_returned(&mut self, children: &[DesiredChild]) {
        let may_be_secret = |child: &&DesiredChild| {
            let ty = self.declared(&child.object);
            ty.is_some_and(|ty| ty.is("v1", "Secret") || ty.may_be_custom())
        };
        self.returned = children.iter().filter(may_be_secret).cloned().collect();
    }

    /// The type of a child as the configuration declares it.
    pub(super) fn declared(&self, object: &Value) -> Option<&K8sType> {
        let (api_version, kind) = (object["apiVersion"].as_str()?, object["kind"].as_str()?);
        let mut types = self.settings.config().children.iter().map(|child| &child.ty);
        types.find(|ty| ty.is(api_version, kind))
    }

    /// Whether schemas are read before texts of others are shown. Otherwise the redactor is set, where it is needed.
    pub(super) fn awaits_redactor(&mut self) -> bool {
        if !self.journal.progress().quotes_others || self.redactor.is_some() {
            return false;
        }
        let secrets = self.secrets();
        let unread = secrets.unread();
        if unread.is_empty() {
            self.redactor = Some(secrets.redactor(false));
            return false;
        }
        let is_other = |ty: &K8sType| *ty != self.settings.config().parent;
        let others = unread.into_iter().filter(is_other).collect();
        self.effects.push(Effect::ReadSchema(others));
        true
    }

    /// Sets the redactor after the schemas were read.
    pub(super) fn redact(&mut self, schema: &Result<Option<Arc<TypeSchema>>, ApiError>) {
        let is_passing = matches!(schema, Ok(None));
        self.redactor = Some(self.secrets().redactor(is_passing));
    }

    /// Remembers the marked fields of the parent: the next version may have other ones, and its children these. They are
    /// forgotten when the children follow.
    pub(super) fn remember_marked(&mut self) {
        let Some(parent) = self.parent.as_ref().filter(|it| it.ty().may_be_custom()) else {
            return;
        };
        let schema = self.snapshot.schemas.known.get(parent.ty());
        let fields = schema.and_then(|schema| schema.secrets.as_ref());
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            let marked = fields.values_of(parent);
            self.memory.remember_marked(marked, self.journal.progress().is_up_to_date());
        }
    }

    fn secrets(&self) -> Secrets {
        let view = &self.view();
        let mut secrets = Secrets::default();
        view.memory.marked().iter().for_each(|marked| marked.collect(&mut secrets.values));
        let (now, current) = (view.parent_now(), view.observed());
        let related = self.related.iter().flat_map(Children::iter);
        let children = self.observed.iter().chain(current.iter()).chain(related);
        for object in now.iter().chain([view.parent]).chain(children) {
            secrets.add(object, view);
        }
        for DesiredChild { object, .. } in &self.returned {
            if let Some(ty) = self.declared(object) {
                secrets.add_returned(ty, object, view);
            }
        }
        secrets
    }
}

impl Secrets {
    fn add(&mut self, object: &Object, view: &View<'_>) {
        self.marked(object.ty(), view).collect_of(object, &mut self.values);
    }

    fn add_returned(&mut self, ty: &K8sType, object: &Value, view: &View<'_>) {
        self.marked(ty, view).collect_values(object.clone(), &mut self.values);
    }

    /// The marked fields of a type, as far as they are known.
    fn marked(&mut self, ty: &K8sType, view: &View<'_>) -> SecretFields {
        if !ty.may_be_custom() {
            return SecretFields::default();
        }
        let known = self.schemas.entry(ty.clone());
        let schema = known.or_insert_with(|| view.snapshot.schemas.known.get(ty).cloned());
        schema.as_ref().and_then(|schema| schema.secrets.clone()).unwrap_or_default()
    }

    fn unread(&self) -> Vec<K8sType> {
        let unread = self.schemas.iter().filter(|(_, schema)| schema.is_none());
        unread.map(|(ty, _)| ty.clone()).collect()
    }

    /// `is_passing`: whether schemas that are not known will be soon.
    fn redactor(self, is_passing: bool) -> Redactor {
        if !self.unread().is_empty() {
            return Redactor::Everything { is_passing };
        }
        let is_known = |schema: &Option<Arc<TypeSchema>>| {
            schema.as_ref().is_some_and(|schema| schema.secrets.is_some())
        };
        if !self.schemas.values().all(is_known) {
            return Redactor::Everything { is_passing: false };
        }
        Redactor::of(self.values)
    }
}
