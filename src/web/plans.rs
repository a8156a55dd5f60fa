//! `/api/v1/plans`: what the operators of a process in plan mode would do now.

use actix_web::{
    HttpResponse,
    web::{Data, Query},
};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::{
    cache::YAML,
    endpoint::{Form, Parameter, TEXT},
    plan::{PlanError, PlanFilter, Plans},
    state::WebState,
    status::Refused,
};
use crate::{board::CommandError, object::legible_yaml};

#[derive(Debug, Deserialize)]
pub(super) struct PlansQuery {
    operator: Option<String>,
    namespace: Option<String>,
    output: Option<String>,
}

pub(super) const OPERATOR: Parameter =
    Parameter::text("operator", "only the parents of this operator");

pub(super) const OUTPUT: Parameter = Parameter {
    name: "output",
    form: Form::OneOf(&["json", "yaml", "diff"]),
    meaning: "the format; default is json",
};

const NO_PLAN_MODE: &str = "this process writes what it plans: only a process in plan mode has plans of all parents. \
     `?diff=1` of a parent shows what a reconcile of it would change";

/// An operator previews one parent at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

pub(super) async fn show(
    query: Query<PlansQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let PlansQuery { operator, namespace, output } = query.into_inner();
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let filter = PlanFilter { operator: given(operator), namespace: given(namespace) };
    let render: fn(&Plans) -> HttpResponse = match output.as_deref() {
        None | Some("json") => |plans| HttpResponse::Ok().json(plans),
        Some("yaml") => yaml,
        Some("diff") => |plans| HttpResponse::Ok().content_type(TEXT).body(plans.to_string()),
        Some(other) => {
            let message = format!("output: `{other}` is not one of json, yaml, diff");
            return Err(Refused::BadRequest(message));
        }
    };
    if !state.board.is_plan_only() {
        return Err(CommandError::Undecided(NO_PLAN_MODE.to_owned()).into());
    }
    let _turn = ONE_AT_A_TIME.lock().await;
    Ok(render(&Plans::of(&state.board, &filter).await?))
}

fn yaml(plans: &Plans) -> HttpResponse {
    let text = legible_yaml(plans).expect("its keys are texts");
    HttpResponse::Ok().content_type(YAML).body(text)
}

impl From<PlanError> for Refused {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Command(error) => Self::Command(error),
            PlanError::Document(error) => Self::BadRequest(error.to_string()),
        }
    }
}
