//! Roles for the web endpoint with delegated authorization: for the program, to review users with
//! the API server, and for those users.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};

use super::account::Account;
use crate::object::K8sType;

/// The subresource of parents for which the endpoint asks. The API server serves none of this name.
pub(crate) const SUBRESOURCE: &str = "operetta";

/// Name and rules of the role by which the program reviews tokens, and the permissions of their
/// users.
pub(super) fn reviewer(account: &Account) -> (String, Vec<PolicyRule>) {
    let create = |group: &str, resource: &str| PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        verbs: vec!["create".to_owned()],
        ..PolicyRule::default()
    };
    let rules = vec![
        create("authentication.k8s.io", "tokenreviews"),
        create("authorization.k8s.io", "subjectaccessreviews"),
    ];
    (format!("{}-access-reviewer", account.name), rules)
}

/// Roles for the users of the endpoint: to scrape it, to read all of it, and also to send commands. The last two are for
/// the parents of these types alone: a `RoleBinding` grants them in its namespace. They are bound to nobody.
pub(super) fn users(account: &Account, parents: &BTreeSet<K8sType>) -> [ClusterRole; 5] {
    let scrape = || paths(&["/metrics"], &["get"]);
    let read = || paths(&["/operetta/*"], &["get"]);
    let command = paths(&["/operetta/*"], &["post", "put"]);
    let role = |name: &str, rules| account.cluster_role(&format!("{}-{name}", account.name), rules);
    [
        role("metrics-reader", vec![scrape()]),
        role("reader", vec![scrape(), read()]),
        role("commander", vec![scrape(), read(), command]),
        role("namespace-reader", of_parents(parents, &["get"])),
        role("namespace-commander", of_parents(parents, &["get", "create"])),
    ]
}

fn of_parents(parents: &BTreeSet<K8sType>, verbs: &[&str]) -> Vec<PolicyRule> {
    let mut by_group: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for parent in parents {
        let resource = format!("{}/{SUBRESOURCE}", parent.plural());
        by_group.entry(parent.group()).or_default().insert(resource);
    }
    let rule = |(group, resources): (&str, BTreeSet<String>)| PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(resources.into_iter().collect()),
        verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
        ..PolicyRule::default()
    };
    by_group.into_iter().map(rule).collect()
}

fn paths(paths: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    PolicyRule {
        non_resource_urls: Some(owned(paths)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_of_a_user_grants_no_more_than_its_part_of_the_endpoint() {
        let parents = [K8sType::namespaced("example.dev/v1", "Echo", "echoes")].into();
        let [scraper, reader, commander, in_namespace, commanding] =
            users(&Account::new("a", "b"), &parents);
        let verbs_of = |role: &ClusterRole, path: &str| -> Vec<String> {
            let rules = role.rules.iter().flatten();
            let fits = |rule: &&PolicyRule| {
                let mut urls = rule.non_resource_urls.iter().flatten();
                urls.any(|url| {
                    url == path || url.strip_suffix('*').is_some_and(|p| path.starts_with(p))
                })
            };
            rules.filter(fits).flat_map(|rule| rule.verbs.clone()).collect()
        };
        let api = "/operetta/api/v1/operators";
        assert_eq!(verbs_of(&scraper, "/metrics"), ["get"]);
        assert!(verbs_of(&scraper, api).is_empty());
        assert_eq!(verbs_of(&reader, api), ["get"]);
        assert_eq!(verbs_of(&commander, api), ["get", "post", "put"]);
        for (role, verbs) in [(&in_namespace, &["get"][..]), (&commanding, &["get", "create"])] {
            let rules = role.rules.as_deref().unwrap_or_default();
            let [rule] = rules else { panic!("{rules:?}") };
            assert_eq!(rule.resources.as_deref(), Some(&["echoes/operetta".to_owned()][..]));
            assert_eq!(rule.verbs, verbs);
            assert!(verbs_of(role, api).is_empty() && verbs_of(role, "/metrics").is_empty());
        }
        for role in [scraper, reader, commander] {
            assert!(verbs_of(&role, "/api/v1/nodes").is_empty(), "nothing of the API server's own");
        }
    }
}
