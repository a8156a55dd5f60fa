//! Which requests a fault strikes, and how often.

use super::{Fault, Target, fault::Point};

/// A fault, the selected requests, and how often it strikes. A rule without conditions strikes every time;
/// of several rules the one that was added first wins.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) fault: Fault,
    verbs: Vec<String>,
    resource: Option<String>,
    namespace: Option<String>,
    is_across_namespaces: bool,
    name: Option<String>,
    user_agent: Option<String>,
    skip: usize,
    times: usize,
    probability: f64,
}

impl Rule {
    /// A rule that strikes every request that the fault can be about.
    pub fn new(fault: Fault) -> Self {
        Self {
            fault,
            verbs: Vec::new(),
            resource: None,
            namespace: None,
            is_across_namespaces: false,
            name: None,
            user_agent: None,
            skip: 0,
            times: usize::MAX,
            probability: 1.0,
        }
    }

    /// Only requests with this verb, or another that is given in the same way.
    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        self.verbs.push(verb.to_owned());
        self
    }

    /// Only this resource in the plural, of any group; subresources as `pods/status`.
    #[must_use]
    pub fn resource(mut self, resource: &str) -> Self {
        self.resource = Some(resource.to_owned());
        self
    }

    /// Only this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Only requests across all namespaces, or about cluster-scoped objects.
    #[must_use]
    pub fn across_namespaces(mut self) -> Self {
        self.is_across_namespaces = true;
        self
    }

    /// Only the object with this name: that of the path, in frames and lists that of the object.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Only requests whose user agent contains this. (One that is added behind the layer, as by
    /// `service_as`, is not seen.)
    #[must_use]
    pub fn user_agent(mut self, part: &str) -> Self {
        self.user_agent = Some(part.to_owned());
        self
    }

    /// Begins with the n-th request that it is about, counted from 1.
    #[must_use]
    pub fn from_nth(mut self, nth: usize) -> Self {
        self.skip = nth.saturating_sub(1);
        self
    }

    /// Strikes at most so often.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Strikes with this probability, from 0 to 1, as the plan's seed decides.
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }

    /// Whether it selects this, regardless of how often it strikes.
    pub(super) fn is_about(&self, point: Point, target: &Target) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        // A list is about the objects in it, which are asked one by one; those of one namespace are
        // all in it.
        let names_objects =
            target.verb == "list" || (target.verb == "watch" && point == Point::Request);
        let is_of_all = names_objects && target.namespace.is_none();
        self.fault.strikes_at(point, &target.verb)
            && (self.verbs.is_empty() || self.verbs.contains(&target.verb))
            && is(&self.resource, Some(&target.resource))
            && !(self.is_across_namespaces && target.namespace.is_some())
            && (is_of_all || is(&self.namespace, target.namespace.as_deref()))
            && (names_objects || is(&self.name, target.name.as_deref()))
            && self.user_agent.as_ref().is_none_or(|part| target.user_agent.contains(part))
    }

    /// Whether an object of a list is meant.
    pub(super) fn is_about_object(&self, object: &Target) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        is(&self.namespace, object.namespace.as_deref()) && is(&self.name, object.name.as_deref())
    }

    /// Whether it strikes the `seen`-th request that it is about, counted from 0, after `hits`
    /// strikes; `chance` is from 0 to 1.
    pub(super) fn strikes(&self, seen: usize, hits: usize, chance: f64) -> bool {
        seen >= self.skip && hits < self.times && chance < self.probability
    }
}
