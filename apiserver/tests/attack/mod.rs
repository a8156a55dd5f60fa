//! What an attacker with a token can send, as a table of attempts.
//!
//! Nothing here judges an answer: the attempts only have to leave a server that lives and answers.

mod bodies;
mod connections;
mod process;
mod requests;

pub(crate) use self::process::Process;

/// The collection that most attempts are about.
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// One attempt.
pub(crate) struct Attempt {
    pub(crate) name: String,
    pub(crate) act: Box<dyn Fn(&Process)>,
}

impl Attempt {
    fn new(name: impl Into<String>, act: impl Fn(&Process) + 'static) -> Self {
        Self { name: name.into(), act: Box::new(act) }
    }
}

/// All attempts, in their order.
pub(crate) fn attempts() -> Vec<Attempt> {
    [bodies::attempts(), requests::attempts(), connections::attempts()]
        .into_iter()
        .flatten()
        .collect()
}
