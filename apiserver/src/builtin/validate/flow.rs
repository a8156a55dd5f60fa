//! Priority and fairness: which requests are alike (`FlowSchema`), and how many of them are served at once
//! (`PriorityLevelConfiguration`).
//!
//! Not here: the fixed specs of `exempt` and `catch-all`.

use super::field::{Errors, Field};
use crate::schema::{FieldError, go_value, name_rule};

const VERBS: [&str; 9] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

/// The bits of a hash that deals queues out.
const HASH_BITS: u32 = 60;

pub(super) fn schema(object: &Field, errors: &mut Errors) {
    let spec = object.child("spec");
    precedence(&spec, object.child("metadata").string("name").text(), errors);
    if let Some(method) = spec.given("distinguisherMethod") {
        let ty = method.string("type");
        if !["ByNamespace", "ByUser"].contains(&ty.text()) {
            let value = Some(format!("{{\"Type\":{}}}", go_value::quote(ty.text())));
            let error = ty.not_supported(&["ByNamespace", "ByUser"]);
            errors.push(FieldError { value, ..error });
        }
    }
    let level = spec.child("priorityLevelConfiguration").string("name");
    if level.is_empty() {
        errors.push(level.required("must reference a priority level"));
    }
    level.follows_unless_empty(name_rule::dns_subdomain, errors);
    for rule in spec.child("rules").items() {
        rule_with_subjects(&rule, errors);
    }
    conditions(object, errors);
}

fn precedence(spec: &Field, name: &str, errors: &mut Errors) {
    let precedence = spec.integer("matchingPrecedence");
    if precedence.number() <= 0 {
        errors.push(precedence.invalid("must be a positive value"));
    }
    if precedence.number() > 10_000 {
        errors.push(precedence.invalid("must not be greater than 10000"));
    }
    if precedence.number() == 1 && name != "exempt" {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        errors.push(precedence.invalid(detail));
    }
}

fn rule_with_subjects(rule: &Field, errors: &mut Errors) {
    rule.child("subjects").is_required("subjects must contain at least one value", errors);
    for known in rule.child("subjects").items() {
        subject(&known, errors);
    }
    let (resources, urls) = (rule.child("resourceRules"), rule.child("nonResourceRules"));
    if resources.is_empty() && urls.is_empty() {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.push(rule.required(detail));
    }
    for rule in resources.items() {
        resource_rule(&rule, errors);
    }
    for rule in urls.items() {
        url_rule(&rule, errors);
    }
}

fn subject(subject: &Field, errors: &mut Errors) {
    let kinds = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];
    let kind = subject.string("kind");
    let Some((_, own)) = kinds.iter().find(|(name, _)| *name == kind.text()) else {
        errors.push(kind.not_supported(&["Group", "ServiceAccount", "User"]));
        return;
    };
    let named = subject.child(own);
    if named.is_given() {
        named.string("name").is_required("", errors);
        if *own == "serviceAccount" {
            service_account(&named, errors);
        }
    } else {
        let detail = format!("{own} is required when subject kind is '{}'", kind.text());
        errors.push(named.required(detail));
    }
    for (name, field) in kinds.iter().filter(|(_, field)| field != own) {
        if let Some(other) = subject.given(field) {
            let detail = format!("{field} is forbidden when subject kind is not '{name}'");
            errors.push(other.forbidden(detail));
        }
    }
}

fn service_account(account: &Field, errors: &mut Errors) {
    let (name, namespace) = (account.string("name"), account.string("namespace"));
    if name.text() != "*" {
        name.follows_unless_empty(name_rule::dns_subdomain, errors);
    }
    namespace.is_required("must specify namespace for service account", errors);
    namespace.follows_unless_empty(name_rule::dns_label, errors);
}

fn resource_rule(rule: &Field, errors: &mut Errors) {
    verbs(&rule.child("verbs"), errors);
    for (field, one, others) in
        [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")]
    {
        let list = rule.child(field);
        list.is_required(&format!("resource rules must supply at least one {one}"), errors);
        all_or_some(&list, others, errors);
    }
    let namespaces = rule.child("namespaces");
    if namespaces.is_empty() && !rule.child("clusterScope").flag() {
        let detail =
            "resource rules that are not cluster scoped must supply at least one namespace";
        errors.push(namespaces.required(detail));
    } else if !all_or_some(&namespaces, "namespaces", errors) {
        for namespace in namespaces.items() {
            for detail in name_rule::dns_label(namespace.text(), false) {
                let start = "each member of this list must be '*' or a DNS-1123 label; ";
                errors.push(namespace.invalid(format!("{start}{detail}")));
            }
        }
    }
}

fn url_rule(rule: &Field, errors: &mut Errors) {
    verbs(&rule.child("verbs"), errors);
    let urls = rule.child("nonResourceURLs");
    urls.is_required("nonResourceURLs must contain at least one value", errors);
    if !all_or_some(&urls, "non-resource URLs", errors) {
        for url in urls.items() {
            errors.extend(wrong_path(url.text()).map(|detail| url.invalid(detail)));
        }
    }
}

fn verbs(verbs: &Field, errors: &mut Errors) {
    verbs.is_required("verbs must contain at least one value", errors);
    if !all_or_some(verbs, "verbs", errors)
        && verbs.items().iter().any(|verb| !VERBS.contains(&verb.text()))
    {
        errors.push(verbs.not_supported(&VERBS));
    }
}

/// Refuses `*` beside others. Whether there is one.
fn all_or_some(list: &Field, others: &str, errors: &mut Errors) -> bool {
    let is_all = list.items().iter().any(|item| item.text() == "*");
    if is_all && list.len() > 1 {
        errors.push(list.invalid(format!("if '*' is present, must not specify other {others}")));
    }
    is_all
}

fn wrong_path(path: &str) -> Option<&'static str> {
    let stars = path.matches('*').count();
    match path {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !path.starts_with('/') => Some("must start with slash"),
        _ if path.contains(' ') => Some("must not contain white-space"),
        _ if path.contains("//") => Some("must not contain double slash"),
        _ if stars > 1 || stars == 1 && !path.ends_with("/*") => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}

pub(super) fn level(object: &Field, errors: &mut Errors) {
    let spec = object.child("spec");
    let (ty, name) = (spec.string("type"), object.child("metadata").string("name"));
    if (name.text() == "exempt") != (ty.text() == "Exempt") {
        errors.push(ty.invalid("must be 'Exempt' if and only if `name` is 'exempt'"));
    }
    let (limited, exempt) = (spec.child("limited"), spec.child("exempt"));
    match ty.text() {
        "Exempt" => {
            shares(&exempt, errors);
            percent(&exempt, errors);
        }
        "Limited" => {
            if limited.is_given() {
                limits(&limited, errors);
            }
        }
        "" => {}
        _ => errors.push(ty.not_supported(&["Exempt", "Limited"])),
    }
    conditions(object, errors);
    if exempt.is_given() && ty.text() != "Exempt" {
        errors.push(exempt.forbidden(""));
    }
    belongs_to(&limited, &ty, "Limited", errors);
    ty.is_required("", errors);
    if limited.is_given() {
        let response = limited.child("limitResponse");
        let ty = response.string("type");
        belongs_to(&response.child("queuing"), &ty, "Queue", errors);
        ty.is_required("", errors);
    }
}

/// A part that one type has, and no other.
fn belongs_to(part: &Field, ty: &Field, of: &str, errors: &mut Errors) {
    match (part.is_given(), ty.text() == of) {
        (true, false) => errors.push(part.forbidden("")),
        (false, true) => errors.push(part.required("")),
        _ => {}
    }
}

fn limits(limited: &Field, errors: &mut Errors) {
    shares(limited, errors);
    let response = limited.child("limitResponse");
    let (ty, queuing) = (response.string("type"), response.child("queuing"));
    match ty.text() {
        "Queue" if queuing.is_given() => queues(&queuing, errors),
        "Reject" | "" | "Queue" => {}
        _ => errors.push(ty.not_supported(&["Queue", "Reject"])),
    }
    percent(limited, errors);
    let borrowing = limited.child("borrowingLimitPercent");
    if borrowing.number() < 0 {
        errors.push(borrowing.invalid("if specified, must be a non-negative integer"));
    }
}

fn shares(level: &Field, errors: &mut Errors) {
    let shares = level.child("nominalConcurrencyShares");
    if shares.number() < 0 {
        errors.push(shares.invalid("must be a non-negative integer"));
    }
}

fn percent(level: &Field, errors: &mut Errors) {
    level.child("lendablePercent").is_within(0, 100, errors);
}

fn queues(queuing: &Field, errors: &mut Errors) {
    const MOST: i64 = 10_000_000;
    let limit = queuing.integer("queueLengthLimit");
    if limit.number() <= 0 {
        errors.push(limit.invalid("must be positive"));
    }
    let (queues, hand) = (queuing.integer("queues"), queuing.integer("handSize"));
    if queues.number() <= 0 {
        errors.push(queues.invalid("must be positive"));
    } else if queues.number() > MOST {
        errors.push(queues.invalid(format!("must not be greater than {MOST}")));
    }
    let (deck, size) = (queues.number(), hand.number());
    if size <= 0 {
        errors.push(hand.invalid("must be positive"));
    } else if size > deck {
        errors.push(hand.invalid(format!("should not be greater than queues ({deck})")));
    } else if bits(deck, size) > HASH_BITS {
        errors.push(hand.invalid(format!(
            "required entropy bits of deckSize {deck} and handSize {size} should not be greater \
             than {HASH_BITS}"
        )));
    }
}

/// How many bits decide which hand of how many cards is dealt from a deck.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn bits(deck: i64, size: i64) -> u32 {
    ((deck as f64).log2() * size as f64).ceil() as u32
}

pub(super) fn conditions(object: &Field, errors: &mut Errors) {
    let mut known: Vec<&str> = Vec::new();
    for condition in object.child("status").child("conditions").items() {
        let ty = condition.string("type");
        if known.contains(&ty.text()) {
            errors.push(ty.duplicate());
        }
        known.push(ty.text());
        ty.is_required("", errors);
    }
}
