//! Runs one operator with its endpoint until it is stopped.

use std::pin::pin;

use anyhow::Error;
use operetta::{
    operator::AnyHandler,
    supervisor::{Connection, Running, Supervisor},
};
use tokio::select;
use tracing::info;

use super::{UnexpectedShutdownError, adapter::Adapter, endpoint::Endpoint, types::Types};
use crate::{
    config::{ClientConfig, OperatorConfig},
    handler::Handler,
};

/// An operator before it runs.
pub(super) struct Operator {
    config: OperatorConfig,
    kube: kube::Config,
    user_agent: String,
    handler: AnyHandler,
    endpoint: Option<Endpoint>,
}

impl Operator {
    /// Reads what the configuration names, and binds the port.
    ///
    /// # Errors
    /// A file cannot be read, the port is taken, or the name cannot be used.
    pub(super) fn prepare(
        config: OperatorConfig,
        client_config: &ClientConfig,
        handler: impl Handler,
    ) -> Result<Self, Error> {
        operetta::operator::OperatorName::new(&config.operator_name)?;
        let kube = futures::executor::block_on(client_config.kube_config())?;
        let endpoint = Endpoint::bind(&config)?;
        let handler = AnyHandler::blocking(Adapter(handler));
        let user_agent = client_config.user_agent.clone();
        Ok(Self { config, kube, user_agent, handler, endpoint })
    }

    /// Runs until `stop` resolves.
    ///
    /// # Errors
    /// It cannot start, or has ended by an error.
    pub(super) async fn run(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let Self { config, kube, user_agent, handler, mut endpoint } = self;
        if let Some(endpoint) = &mut endpoint {
            endpoint.serve()?;
        }
        let mut stop = pin!(stop);
        let connection = select! {
            () = &mut stop => return Ok(()),
            connection = Connection::from(kube).login() => connection?,
        };
        let client = connection.client()?;
        let types = select! {
            () = &mut stop => return Ok(()),
            types = Types::of_server(&client, config.types()) => types,
        };
        let running = start(&config, connection, &user_agent, handler, &types).await?;
        if let Some(endpoint) = &endpoint {
            endpoint.show(running.probes());
        }
        info!("operator `{}` has started", config.operator_name);
        let is_asked = select! {
            () = &mut stop => true,
            () = running.stopped() => false,
        };
        running.stop().await?;
        if is_asked { Ok(()) } else { Err(UnexpectedShutdownError.into()) }
    }
}

/// Starts the operator on threads of its own.
pub(super) async fn start(
    config: &OperatorConfig,
    connection: Connection,
    user_agent: &str,
    handler: AnyHandler,
    types: &Types,
) -> Result<Running, Error> {
    let operator = config.to_operetta(user_agent, |ty| types.get(ty));
    let program = user_agent.split_once('/').unwrap_or((user_agent, env!("CARGO_PKG_VERSION")));
    let running = Supervisor::builder()
        .connect(|| async { Ok(connection) })
        .program(program.0, program.1)
        .register(operator, handler)
        .start()
        .await?;
    Ok(running)
}
