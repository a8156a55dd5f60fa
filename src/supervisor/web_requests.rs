//! Passes the requests of users to their operators.

use std::collections::BTreeMap;

use tokio::sync::mpsc::Receiver;

use crate::{
    actors::{Asked, MeteredRecipient},
    board::{CommandError, WebRequest},
};

/// The operators by name.
pub(super) type Operators = BTreeMap<String, MeteredRecipient<Asked>>;

pub(super) async fn dispatch(mut requests: Receiver<WebRequest>, operators: Operators) {
    while let Some(request) = requests.recv().await {
        if let Some(operator) = operators.get(request.operator()) {
            operator.post(Asked { request });
        } else {
            let unknown = CommandError::NoOperator(request.operator().to_owned());
            request.refuse(unknown);
        }
    }
}
