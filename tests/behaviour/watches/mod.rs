//! What operators watch, where and with which permission, and what they notice.

mod missed;
mod missing_type;
mod permissions;
mod scopes;
mod selection;
mod sharing;
