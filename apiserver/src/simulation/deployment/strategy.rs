//! The strategy of a Deployment: how many Pods may be beyond and below its replicas.

use serde_json::Value;

use crate::simulation::object::{replicas, text};

/// How the replicas move to a new template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// A few at a time.
    Rolling {
        /// How many Pods there may be beyond the replicas.
        surge: i64,
        /// How many Pods may be unavailable.
        unavailable: i64,
    },
    /// All old Pods end before the first new one starts.
    Recreate,
}

impl Strategy {
    /// The strategy of a Deployment.
    pub(super) fn of(deployment: &Value) -> Self {
        let strategy = &deployment["spec"]["strategy"];
        if strategy["type"] == "Recreate" {
            return Self::Recreate;
        }
        let (given, whole) = (&strategy["rollingUpdate"], replicas(deployment));
        let surge = share(&given["maxSurge"], whole, Rounding::Up);
        let unavailable = share(&given["maxUnavailable"], whole, Rounding::Down);
        // With neither, nothing could ever move.
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        Self::Rolling { surge, unavailable: unavailable.min(whole) }
    }

    /// How many Pods there may be beyond the replicas.
    pub(super) fn surge(self) -> i64 {
        match self {
            Self::Rolling { surge, .. } => surge,
            Self::Recreate => 0,
        }
    }

    /// How many Pods may be unavailable.
    pub(super) fn unavailable(self) -> i64 {
        match self {
            Self::Rolling { unavailable, .. } => unavailable,
            Self::Recreate => 0,
        }
    }
}

/// How a percentage becomes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::simulation) enum Rounding {
    /// To the next greater one.
    Up,
    /// To the next smaller one.
    Down,
}

/// A number, or a percentage of a whole.
pub(in crate::simulation) fn share(amount: &Value, whole: i64, rounding: Rounding) -> i64 {
    let Some(percent) = text(amount).strip_suffix('%') else {
        return amount.as_i64().unwrap_or_default();
    };
    let hundredths = percent.parse::<i64>().unwrap_or_default().saturating_mul(whole);
    match rounding {
        Rounding::Up => hundredths.saturating_add(99) / 100,
        Rounding::Down => hundredths / 100,
    }
}
