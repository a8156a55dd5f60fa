//! A `Stall` is on the market from one second to another: a Namespace for its goods, and a sign that says what is going on.
//!
//! It is written for roperator 0.3, as a handler in parts that is called again each second, whatever happens.

use std::{
    process,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use roperator::{
    config::ClientConfig,
    handler::failable::{DefaultFailableHandler, FailableHandler, HandlerResult},
    prelude::*,
    runner::run_operator_with_client_config,
    serde_json::{self, Value, json},
};

const NAME: &str = "market-stalls";

static STALL: &K8sType =
    &K8sType { api_version: "programs.operetta.dev/v1", kind: "Stall", plural_kind: "stalls" };

#[derive(Deserialize)]
struct Stall {
    spec: Hours,
    #[serde(default)]
    status: Sign,
}

/// Seconds of Unix time, and what is called out meanwhile.
#[derive(Deserialize)]
#[serde(try_from = "Written")]
struct Hours {
    from: u64,
    until: u64,
    call: String,
}

/// As it is in the spec.
#[derive(Deserialize)]
struct Written {
    from: u64,
    until: u64,
    call: String,
}

/// The status.
#[derive(Serialize, Deserialize, Clone, Default)]
#[serde(default)]
struct Sign {
    says: String,
    /// Since when it says this.
    since: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

/// A stall at one moment.
struct Moment {
    stall: Stall,
    now: u64,
    is_open: bool,
}

struct Market;

impl TryFrom<Written> for Hours {
    type Error = String;

    fn try_from(Written { from, until, call }: Written) -> Result<Self, String> {
        if until < from {
            return Err(format!("it cannot close at {until} and open at {from}"));
        }
        Ok(Self { from, until, call })
    }
}

impl FailableHandler for Market {
    type Validated = Moment;
    type Error = serde_json::Error;
    type Status = Sign;

    fn validate(&self, request: &SyncRequest) -> Result<Moment, serde_json::Error> {
        let stall = request.deserialize_parent::<Stall>()?;
        Ok(Moment { stall, now: now(), is_open: false })
    }

    fn sync_children(
        &self,
        moment: &mut Moment,
        request: &SyncRequest,
    ) -> Result<Vec<Value>, serde_json::Error> {
        let Hours { from, until, call } = &moment.stall.spec;
        moment.is_open = (*from..*until).contains(&moment.now);
        let pitch = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": request.parent.name(),
                "annotations": {"programs.operetta.dev/call": call},
            },
        });
        log::debug!("{} is open: {}", request.parent.name(), moment.is_open);
        Ok(if moment.is_open { vec![pitch] } else { vec![] })
    }

    fn determine_status(
        &self,
        request: &SyncRequest,
        result: HandlerResult<Moment, serde_json::Error>,
    ) -> Sign {
        let pitches = request.children().of_type(k8s_types::core::v1::Namespace);
        match result {
            HandlerResult::SyncSuccess(moment) => sign(moment, pitches.first().is_some()),
            failed => trouble(request, failed.into_error()),
        }
    }
}

fn sign(Moment { stall, now, is_open }: Moment, has_pitch: bool) -> Sign {
    let says = match (is_open, has_pitch) {
        (true, true) => stall.spec.call,
        (true, false) => "unpacking".to_owned(),
        (false, true) => "packing up".to_owned(),
        (false, false) => "closed".to_owned(),
    };
    let since = if says == stall.status.says { stall.status.since } else { now };
    Sign { says, since, trouble: None }
}

/// The sign as it was, with what is wrong.
fn trouble(request: &SyncRequest, error: Option<serde_json::Error>) -> Sign {
    let before = request.parent.status().cloned().unwrap_or_default();
    let before: Sign = serde_json::from_value(before).unwrap_or_default();
    Sign { trouble: error.map(|error| format!("nobody understands the hours: {error}")), ..before }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn main() {
    env_logger::init();
    let config = OperatorConfig::new(NAME, STALL)
        .with_child(k8s_types::core::v1::Namespace, ChildConfig::on_delete());
    let connection = ClientConfig::from_kubeconfig(NAME).expect("there is a kubeconfig");
    // Nothing else would wake it when the hour has come.
    let market = DefaultFailableHandler::wrap(Market).with_regular_resync(Duration::from_secs(1));
    let end = run_operator_with_client_config(config, connection, market);
    log::warn!("{NAME} has ended: {end}");
    process::exit(1);
}
