//! Hands what a person orders to the operator that it is about.

use std::collections::BTreeMap;

use tokio::sync::mpsc::Receiver;

use crate::{
    actors::{Ordered, Postbox},
    board::{Command, CommandError},
};

/// The operators by name.
pub(super) type Operators = BTreeMap<String, Postbox<Ordered>>;

/// Hands on one command after the other, until no more can come.
pub(super) async fn hand_on(mut commands: Receiver<Command>, operators: Operators) {
    while let Some(command) = commands.recv().await {
        match operators.get(&command.operator) {
            Some(operator) => operator.post(Ordered { command }),
            None => command.answer.give(Err(CommandError::NoOperator(command.operator))),
        }
    }
}
