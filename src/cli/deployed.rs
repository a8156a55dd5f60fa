//! The names under which a program is deployed.

/// The names of a program in a cluster, which manifests have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployed {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) image: String,
    pub(super) version: String,
    pub(super) description: String,
}

impl Deployed {
    /// An application of this name in a namespace and with an image of the same name, in this version.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            namespace: name.to_owned(),
            image: name.to_owned(),
            version: version.to_owned(),
            description: format!("The operators of {name} in one process."),
        }
    }

    /// Sets the namespace.
    #[must_use]
    pub fn namespace(self, name: &str) -> Self {
        Self { namespace: name.to_owned(), ..self }
    }

    /// Sets the image, without its tag, which is the version.
    #[must_use]
    pub fn image(self, name: &str) -> Self {
        Self { image: name.to_owned(), ..self }
    }

    /// Sets what the chart says of itself.
    #[must_use]
    pub fn description(self, text: &str) -> Self {
        Self { description: text.to_owned(), ..self }
    }
}
