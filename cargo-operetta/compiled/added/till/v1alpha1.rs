//! `Till` in the version `v1alpha1`, and how it is converted. The operator has the newest version.

use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A server with an address in the cluster.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[kube(group = "shop.example.com", version = "v1alpha1", kind = "Till")]
#[kube(namespaced, status = "TillStatus")]
#[kube(printcolumn(name = "URL", type_ = "string", json_path = ".status.url"))]
pub struct TillSpec {
    /// The image of the server.
    pub image: String,
    /// The port at which it listens.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The currencies that it takes, and how it rounds them.
    #[serde(default)]
    pub currencies: BTreeMap<String, TillCurrency>,
    /// The drawer for the money.
    #[serde(default = "no_drawer")]
    pub drawer: TillDrawer,
    /// Those that share the money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Vec<TillDrawer>>,
}

/// A currency.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
pub struct TillCurrency {
    /// The smallest coin.
    pub coin: u32,
}

/// A drawer.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum TillDrawer {
    /// For money of this number of kinds.
    Money(u32),
    /// For what is written.
    Paper {
        /// How many.
        sheets: u32,
    },
}

fn no_drawer() -> TillDrawer {
    TillDrawer::Money(0)
}

/// What is known of a `Till`.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(default)]
pub struct TillStatus {
    /// Where it is served.
    pub url: String,
    /// `Synced` and `Ready` are kept by the framework.
    pub conditions: Conditions,
}

impl From<Till> for super::Till {
    fn from(old: Till) -> Self {
        let Till { metadata, spec, status } = old;
        Self { metadata, spec: spec.into(), status: status.map(Into::into) }
    }
}

impl From<super::Till> for Till {
    fn from(old: super::Till) -> Self {
        let super::Till { metadata, spec, status } = old;
        Self { metadata, spec: spec.into(), status: status.map(Into::into) }
    }
}

impl From<TillSpec> for super::TillSpec {
    fn from(old: TillSpec) -> Self {
        let TillSpec { image, port, currencies, drawer, shared } = old;
        Self {
            image,
            port,
            currencies: currencies.into_iter().map(|(key, it)| (key, it.into())).collect(),
            drawer: drawer.into(),
            shared: shared.map(|it| it.into_iter().map(Into::into).collect()),
        }
    }
}

impl From<super::TillSpec> for TillSpec {
    fn from(old: super::TillSpec) -> Self {
        let super::TillSpec { image, port, currencies, drawer, shared } = old;
        Self {
            image,
            port,
            currencies: currencies.into_iter().map(|(key, it)| (key, it.into())).collect(),
            drawer: drawer.into(),
            shared: shared.map(|it| it.into_iter().map(Into::into).collect()),
        }
    }
}

impl From<TillCurrency> for super::TillCurrency {
    fn from(old: TillCurrency) -> Self {
        let TillCurrency { coin } = old;
        Self { coin }
    }
}

impl From<super::TillCurrency> for TillCurrency {
    fn from(old: super::TillCurrency) -> Self {
        let super::TillCurrency { coin } = old;
        Self { coin }
    }
}

impl From<TillDrawer> for super::TillDrawer {
    fn from(old: TillDrawer) -> Self {
        match old {
            TillDrawer::Money(a0) => Self::Money(a0),
            TillDrawer::Paper { sheets } => Self::Paper { sheets },
        }
    }
}

impl From<super::TillDrawer> for TillDrawer {
    fn from(old: super::TillDrawer) -> Self {
        match old {
            super::TillDrawer::Money(a0) => Self::Money(a0),
            super::TillDrawer::Paper { sheets } => Self::Paper { sheets },
        }
    }
}

impl From<TillStatus> for super::TillStatus {
    fn from(old: TillStatus) -> Self {
        let TillStatus { url, conditions } = old;
        Self { url, conditions }
    }
}

impl From<super::TillStatus> for TillStatus {
    fn from(old: super::TillStatus) -> Self {
        let super::TillStatus { url, conditions } = old;
        Self { url, conditions }
    }
}

#[cfg(test)]
mod tests {
    use operetta::testkit::assert_round_trips;

    use crate::till::{Till, v1alpha1, versions};

    #[test]
    fn no_field_is_lost() {
        assert_round_trips::<Till, v1alpha1::Till>(&versions(), 500);
    }
}
