//! The names under which a Service is called.

/// The names of a Service that its certificate has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceNames(Vec<String>);

impl ServiceNames {
    /// The names of a Service within the cluster: `shop`, `shop.ns`, `shop.ns.svc` and `shop.ns.svc.cluster.local`.
    /// Webhooks are called by the third.
    pub fn of(service: &str, namespace: &str) -> Self {
        let svc = format!("{service}.{namespace}.svc");
        let names = [
            service.to_owned(),
            format!("{service}.{namespace}"),
            svc.clone(),
            format!("{svc}.cluster.local"),
        ];
        Self(names.into())
    }

    /// Adds the names of the Pods behind a headless Service, such as those of a `StatefulSet`: `*.shop.ns.svc`.
    #[must_use]
    pub fn with_pods(mut self) -> Self {
        let pods = self.0.iter().filter(|name| name.contains('.')).map(|name| format!("*.{name}"));
        let pods: Vec<_> = pods.collect();
        self.0.extend(pods);
        self
    }

    /// Adds a name or an IP address, for example of an ingress, or with the domain of a cluster that has another.
    #[must_use]
    pub fn with(mut self, name: &str) -> Self {
        self.0.push(name.to_owned());
        self
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}
