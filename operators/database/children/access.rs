//! How the database is accessed: two Secrets that are made once and never changed.

use serde_json::{Value, json};
use uuid::Uuid;

use super::names::{self, PORT};
use crate::database::crd::Database;

/// The database that programs use, and its owner.
pub(super) const APP: &str = "app";

/// What a program needs to connect. Each call has another password: the Secret must be made once.
pub(in crate::database) fn credentials(database: &Database) -> Value {
    let password = password();
    let host = format!("{}.{}.svc", names::primary(database), names::namespace(database));
    secret(
        database,
        &names::credentials(database),
        &json!({
            "host": host, "port": PORT.to_string(), "dbname": APP, "username": APP,
            "password": password,
            "uri": format!("postgresql://{APP}:{password}@{host}:{PORT}/{APP}"),
        }),
    )
}

/// What only the Pods of the database need: the superuser, and the user for replication.
pub(in crate::database) fn superuser(database: &Database) -> Value {
    let data = json!({"password": password(), "replication-password": password()});
    secret(database, &names::superuser(database), &data)
}

fn secret(database: &Database, name: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": names::metadata(database, name),
        "type": "Opaque", "stringData": data,
    })
}

/// 122 random bits of the operating system, as letters and digits that need no escaping in a URI.
fn password() -> String {
    Uuid::new_v4().simple().to_string()
}
