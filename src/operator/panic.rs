//! A panic of user code as text, with its place in the code.

use std::{
    any::Any,
    cell::Cell,
    panic::{Location, PanicHookInfo, set_hook, take_hook},
    sync::Once,
};

thread_local! {
    /// Where this thread panicked last.
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

static WATCHED: Once = Once::new();

/// Remembers where threads panic, beside what the panic hook of the program does. A hook that the program sets later
/// replaces it: the place is then not known.
pub(crate) fn watch_places() {
    WATCHED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            PLACE.set(info.location().map(Location::to_string));
            before(info);
        }));
    });
}

/// The message of a panic that this thread has just caught, with its place if that is known.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().map_or("no message", |text| *text).to_owned(),
    };
    match PLACE.take() {
        Some(place) => format!("{text} (at {place})"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_panic_is_shown_with_its_place() {
        watch_places();
        let caught = catch_unwind(|| panic!("too {}", "hot")).unwrap_err();
        let (text, line) = (panic_text(caught), line!() - 1);
        assert_eq!(text, format!("too hot (at {}:{line}:{})", file!(), 38));
    }

    #[test]
    fn a_panic_without_a_message_is_text_too() {
        assert_eq!(panic_text(Box::new("static")), "static");
        assert_eq!(panic_text(Box::new("owned".to_owned())), "owned");
        assert_eq!(panic_text(Box::new(7)), "no message");
    }
}
