//! A missing permission, as the API server names it, and the command that grants it. Nothing is decided on it.

use super::kubectl::quoted;
use crate::history::Action;

/// `User "U" cannot V resource "R" in API group "G" in the namespace "N"`, as the authorizer says it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Grant<'a> {
    pub(crate) user: &'a str,
    pub(crate) verb: &'a str,
    /// With its subresource.
    pub(crate) resource: &'a str,
    pub(crate) group: &'a str,
    /// `None` for all namespaces, and for what has none.
    pub(crate) namespace: Option<&'a str>,
}

/// What an operator does with a type: one command grants all of it.
const OF_CHILDREN: &str = "get,list,watch,create,patch,delete";
/// Of what is only watched.
const READING: &str = "get,list,watch";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

impl<'a> Grant<'a> {
    /// Finds the sentence in the message of a refusal.
    pub(crate) fn read(message: &'a str) -> Option<Self> {
        let (_, rest) = message.split_once("is forbidden: User \"")?;
        let (user, rest) = rest.split_once("\" cannot ")?;
        let (verb, rest) = rest.split_once(" resource \"")?;
        let (resource, rest) = rest.split_once("\" in API group \"")?;
        let (group, rest) = rest.split_once('"')?;
        let namespace = rest.strip_prefix(" in the namespace \"").and_then(|it| it.split_once('"'));
        let namespace = namespace.map(|(namespace, _)| namespace);
        let grant = Self { user, verb, resource, group, namespace };
        let words = [verb, resource, group, namespace.unwrap_or_default()];
        words.into_iter().all(is_name).then_some(grant)
    }

    /// `U may not V R.G in N`
    pub(crate) fn sentence(&self) -> String {
        let Self { user, verb, .. } = self;
        format!("{user} may not {verb} {}{}", self.resource_name(), self.place())
    }

    pub(crate) fn action(&self) -> Action {
        let verbs = self.verbs();
        let text =
            format!("Grant {verbs} of {}{} to {}", self.resource_name(), self.place(), self.user);
        Action::command(text, self.command(verbs))
    }

    fn command(&self, verbs: &str) -> String {
        let (role, binding, flag) = match self.namespace {
            Some(_) => ("role", "rolebinding", "role"),
            None => ("clusterrole", "clusterrolebinding", "clusterrole"),
        };
        let scope = self.namespace.map(|name| format!(" -n {name}")).unwrap_or_default();
        let (name, resource) = (self.name(), self.resource_name());
        let subject = match self.user.strip_prefix(SERVICE_ACCOUNT) {
            Some(account) => format!("--serviceaccount={}", quoted(account)),
            None => format!("--user={}", quoted(self.user)),
        };
        format!(
            "kubectl create {role} {name}{scope} --verb={verbs} --resource={resource} && kubectl create {binding} \
             {name}{scope} --{flag}={name} {subject}"
        )
    }

    /// The other verbs that would be missed next.
    fn verbs(&self) -> &'a str {
        match self.verb {
            "list" | "watch" => READING,
            _ if self.resource.contains('/') => self.verb,
            "create" | "patch" | "delete" | "get" => OF_CHILDREN,
            verb => verb,
        }
    }

    /// A name for the role, which is not used for another permission.
    fn name(&self) -> String {
        let verb = if self.verbs() == OF_CHILDREN { "write" } else { self.verb };
        format!("operetta-{verb}-{}", self.resource_name().replace(['.', '/'], "-"))
    }

    pub(crate) fn resource_name(&self) -> String {
        let Self { resource, group, .. } = self;
        match (group.is_empty(), resource.split_once('/')) {
            (true, _) => (*resource).to_owned(),
            (false, None) => format!("{resource}.{group}"),
            (false, Some((plural, sub))) => format!("{plural}.{group}/{sub}"),
        }
    }

    fn place(&self) -> String {
        self.namespace.map(|name| format!(" in namespace {name}")).unwrap_or_default()
    }
}

/// Whether it can be a name of Kubernetes, so that it needs no quotes in a shell.
fn is_name(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-./".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_A_NAMESPACE: &str = "configmaps \"a\" is forbidden: User \"system:serviceaccount:ops:operators\" cannot \
                                  patch resource \"configmaps\" in API group \"\" in the namespace \"shop\"";
    const IN_ALL: &str = "widgets.example.dev is forbidden: User \"bob smith\" cannot list resource \"widgets\" in \
                          API group \"example.dev\" at the cluster scope";

    #[test]
    fn a_missing_permission_is_granted_by_one_command() {
        for (message, sentence, command) in [
            (
                IN_A_NAMESPACE,
                "system:serviceaccount:ops:operators may not patch configmaps in namespace shop",
                "kubectl create role operetta-write-configmaps -n shop \
                 --verb=get,list,watch,create,patch,delete --resource=configmaps && kubectl create rolebinding \
                 operetta-write-configmaps -n shop --role=operetta-write-configmaps --serviceaccount=ops:operators",
            ),
            (
                IN_ALL,
                "bob smith may not list widgets.example.dev",
                "kubectl create clusterrole operetta-list-widgets-example-dev --verb=get,list,watch \
                 --resource=widgets.example.dev && kubectl create clusterrolebinding \
                 operetta-list-widgets-example-dev --clusterrole=operetta-list-widgets-example-dev \
                 --user='bob smith'",
            ),
        ] {
            let grant = Grant::read(message).unwrap();
            assert_eq!(grant.sentence(), sentence);
            assert_eq!(grant.action().command.unwrap(), command);
        }
    }

    #[test]
    fn words_that_are_no_names_are_no_permission() {
        let forged = IN_A_NAMESPACE.replace("\"shop\"", "\"x; reboot\"");
        for message in ["", "is forbidden: no", &forged] {
            assert_eq!(Grant::read(message), None, "{message}");
        }
    }
}
