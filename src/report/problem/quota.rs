//! A `ResourceQuota` that refuses an object, as its admission plugin names it, and the command that raises it.

use super::kubectl::quoted;
use crate::{diff::quantity, history::Action, plan::ChildId};

/// `exceeded quota: NAME, requested: a=1,b=2, used: a=5,b=1, limited: a=5,b=2`
#[derive(Debug)]
pub(super) struct Exceeded<'a> {
    pub(super) name: &'a str,
    requested: &'a str,
    used: &'a str,
    limited: &'a str,
}

/// `failed quota: NAME: must specify limits.memory for: a,b; requests.cpu for: a`
#[derive(Debug)]
pub(super) struct Demanded<'a> {
    pub(super) name: &'a str,
    must: &'a str,
}

impl<'a> Demanded<'a> {
    pub(super) fn read(message: &'a str) -> Option<Self> {
        let (_, rest) = message.split_once(" is forbidden: failed quota: ")?;
        let (name, must) = rest.split_once(": must specify ")?;
        Some(Self { name, must })
    }

    /// What is not specified: `limits.memory, requests.cpu`.
    pub(super) fn fields(&self) -> String {
        let parts = self.must.split("; ").filter_map(|part| part.split_once(" for: "));
        parts.map(|(field, _)| field).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn sentence(&self) -> String {
        format!("its containers must specify {}", self.must)
    }
}

impl<'a> Exceeded<'a> {
    pub(super) fn read(message: &'a str) -> Option<Self> {
        let (_, rest) = message.split_once(" is forbidden: exceeded quota: ")?;
        let (name, rest) = rest.split_once(", requested: ")?;
        let (requested, rest) = rest.split_once(", used: ")?;
        let (used, rest) = rest.split_once(", limited: ")?;
        let limited = rest.split([' ', ';', ')']).next().unwrap_or_default();
        Some(Self { name, requested, used, limited })
    }

    pub(super) fn sentence(&self) -> String {
        let Self { requested, used, limited, .. } = self;
        format!("it needs {requested} more than the {used} in use, and the limit is {limited}")
    }

    pub(super) fn actions(&self, about: &ChildId) -> Vec<Action> {
        let Some(namespace) = about.key.namespace.as_deref() else { return Vec::new() };
        let (name, namespace) = (quoted(self.name), quoted(namespace));
        let raise = match self.raised() {
            Some(hard) => Action::command(
                format!("Raise the limit to {hard}"),
                format!(
                    "kubectl patch resourcequotas {name} -n {namespace} --type=merge -p {}",
                    quoted(&json(&hard))
                ),
            ),
            None => Action::command(
                "Raise the limit",
                format!("kubectl edit resourcequotas {name} -n {namespace}"),
            ),
        };
        vec![raise, Action::text("Or delete what the namespace no longer needs")]
    }

    /// The limits that would suffice: `configmaps=6`.
    fn raised(&self) -> Option<String> {
        let of = |list: &str, name: &str| {
            let mut pairs = list.split(',').filter_map(|pair| pair.split_once('='));
            pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        };
        let sums = self.limited.split(',').map(|pair| {
            let (name, _) = pair.split_once('=')?;
            let sum = quantity::sum(&of(self.used, name)?, &of(self.requested, name)?)?;
            Some(format!("{name}={sum}"))
        });
        Some(sums.collect::<Option<Vec<_>>>()?.join(","))
    }
}

fn json(hard: &str) -> String {
    let pairs = hard.split(',').filter_map(|pair| pair.split_once('='));
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name:?}:{value:?}")).collect();
    format!("{{\"spec\":{{\"hard\":{{{}}}}}}}", pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, ObjectKey};

    #[test]
    fn a_quota_names_what_it_counts_and_a_container_does_not_ask_for() {
        let message = "pods \"a\" is forbidden: failed quota: small: must specify limits.memory for: c,d; requests.cpu \
                       for: c";
        let demanded = Demanded::read(message).unwrap();
        assert_eq!(
            (demanded.name, demanded.fields().as_str()),
            ("small", "limits.memory, requests.cpu")
        );
    }

    #[test]
    fn a_quota_is_raised_by_what_is_missing() {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let about = ChildId { ty, key: ObjectKey::namespaced("shop", "a") };
        for (numbers, command) in [
            (
                "requested: pods=1, used: pods=5, limited: pods=5",
                "kubectl patch resourcequotas small -n shop --type=merge -p '{\"spec\":{\"hard\":{\"pods\":\"6\"}}}'",
            ),
            (
                "requested: limits.cpu=250m,limits.memory=1Gi, used: limits.cpu=1,limits.memory=512Mi, limited: \
                 limits.cpu=1,limits.memory=1Gi",
                "kubectl patch resourcequotas small -n shop --type=merge -p \
                 '{\"spec\":{\"hard\":{\"limits.cpu\":\"1250m\",\"limits.memory\":\"1610612736\"}}}'",
            ),
            (
                "requested: pods=x, used: pods=5, limited: pods=5",
                "kubectl edit resourcequotas small -n shop",
            ),
        ] {
            let message = format!("pods \"a\" is forbidden: exceeded quota: small, {numbers}");
            let actions = Exceeded::read(&message).unwrap().actions(&about);
            assert_eq!(actions[0].command.as_deref(), Some(command));
        }
    }
}
