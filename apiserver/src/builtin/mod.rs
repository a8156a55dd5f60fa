//! The built-in types of Kubernetes as the real server treats them.
//!
//! ```text
//! data/builtin.json --> catalog (types, structs) --> schema
//!                           |
//!  request -> decode -> default -> prepare_for_* -> validate_* -> store
//! ```
//!
//! **Invariants**: everything here is a function of values; nothing allocates addresses, reads
//! other objects or a clock. The data come from the Go sources of the version that
//! [`kubernetes_version`] names; the rules written by hand are those of the same version.

mod addresses;
mod catalog;
mod convert;
mod copied;
mod decode;
mod defaulting;
mod ephemeral;
mod field_order;
mod go_type;
mod go_union;
mod message;
mod open_api;
mod part;
mod patch_type;
mod path;
mod pod;
mod prepare;
mod round_trip;
mod service;
mod timestamp;
mod unstructured;
mod validate;
mod warnings;

pub use addresses::{ADDRESS_RANGE, NODE_PORTS, free_address, free_node_port, is_in_range};
pub use catalog::{BuiltinType, find, kubernetes_version, name_rule, types};
pub(crate) use catalog::{Message, messages, scale_schema, structs, token_request_schema};
pub use convert::{convert, stored_as};
pub use decode::{DecodeError, decode};
pub(crate) use decode::{decode_metadata, decode_struct, json_name};
pub use defaulting::{default, empty};
pub(crate) use field_order::{has_order, json, metadata_json, write_json};
pub(crate) use go_type::{GoStruct, GoType, WireForm};
pub(crate) use message::{message, read_message};
pub use part::{Part, complete_conditions, prepare_for_part, validate_part};
pub use patch_type::{PatchField, PatchFieldError, PatchType};
pub use prepare::{
    prepare_for_create, prepare_for_finalize, prepare_for_status_update, prepare_for_update,
};
pub(crate) use round_trip::{drop_empty_lists, fill, round_trip_metadata, strip};
pub(crate) use service::family_errors;
pub use service::{
    allocates_node_ports, cluster_ip, has_cluster_ip, has_health_check, has_node_ports,
    needs_cluster_ip, node_ports, occupied_ports, port_numbers, set_cluster_ip, set_node_port,
};
pub(crate) use unstructured::from_unstructured;
pub(crate) use validate::{address_errors, selects, validate_change, webhook_client_errors};
pub use validate::{validate_create, validate_status, validate_update};
pub use warnings::{deprecation, warnings, warnings_of_deletion};

#[cfg(test)]
mod tests;
