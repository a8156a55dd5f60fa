//! Finds the rival of a repeated write by one live read of the whole object, directly before the write that
//! counts as a fight. After the write the fields are ours, and the rival is not visible.

use crate::{
    diff::rival,
    journal::Fact,
    object::Object,
    operator::OperatorName,
    plan::{ChildId, FlappingReason, Rewrite, RewriteReason, Subject, Write},
    run::{
        module_view::View,
        request::{Answer, Reply, Request, Whole},
    },
};

#[derive(Debug)]
pub(in crate::run) struct Search {
    id: ChildId,
    subject: Subject,
    why: FlappingReason,
    paths: Vec<String>,
    subresource: Option<&'static str>,
    /// The rival according to the cache.
    fallback: Option<String>,
}

impl Search {
    /// The search before a child is repaired.
    pub(in crate::run) fn before_repair(id: &ChildId, view: &View<'_>) -> Option<Self> {
        Self::of_rewrite(id, view.rewrite_of(id)?, view)
    }

    /// The drift, and the search, for a child that left the cache and exists.
    pub(in crate::run) fn after_find(
        write: &Write,
        live: &Object,
        view: &View<'_>,
    ) -> (Option<Fact>, Option<Self>) {
        let Some(mut rewrite) = view.rewrite_of(&write.id).cloned() else {
            return (None, None);
        };
        rewrite.paths.clone_from(&write.paths);
        rewrite.to = Some(live.resource_version().clone());
        rewrite.changed_by = live.changed_by().map(str::to_owned);
        let search = Self::of_rewrite(&write.id, &rewrite, view);
        (Some(Fact::Drifted(write.id.clone(), rewrite)), search)
    }

    pub(in crate::run) fn before_status(view: &View<'_>, paths: Vec<String>) -> Option<Self> {
        let (subject, why) = (Subject::Status, FlappingReason::FightingOverStatus);
        let is_due = view.memory.flapping().is_about_to_begin(&subject, why);
        is_due.then(|| {
            let (id, subresource) = (ChildId::of(view.parent), Some("status"));
            Self { id, subject, why, paths, subresource, fallback: None }
        })
    }

    fn of_rewrite(id: &ChildId, rewrite: &Rewrite, view: &View<'_>) -> Option<Self> {
        let (subject, why) = (Subject::Child(id.clone()), rewrite.why.into());
        let is_due = rewrite.why == RewriteReason::Drift
            && rewrite.to.is_some()
            && view.memory.flapping().is_about_to_begin(&subject, why);
        is_due.then(|| {
            let (id, paths) = (id.clone(), rewrite.paths.clone());
            let fallback = rewrite.changed_by.clone();
            Self { id, subject, why, paths, subresource: None, fallback }
        })
    }

    pub(in crate::run) fn request(&self) -> Request {
        Request::ReadWhole(self.id.clone())
    }

    /// The rival, if the read found one. A failed read only costs its name.
    pub(in crate::run) fn found(&self, answer: Answer, operator: &OperatorName) -> Fact {
        let live = Reply::whole(answer).ok().flatten();
        let found = live
            .and_then(|Whole(live)| rival(&live, &self.paths, operator.as_str(), self.subresource));
        let (subject, why) = (self.subject.clone(), self.why);
        Fact::RivalFound { subject, why, rival: found.or_else(|| self.fallback.clone()) }
    }
}
