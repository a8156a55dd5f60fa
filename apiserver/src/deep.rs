//! Deeply nested documents. Whatever reads, compares or drops one is recursive, and needs a stack that is deep enough:
//! as in Go, where stacks grow.
//!
//! Almost no server meets one, and those who handle documents need to know nothing of them. All begins on ordinary
//! stacks, where readers stop at a hundred levels. A request that is stopped there [begins](begin) the deep stacks, and
//! is answered again on one. From then on every turn of a request, a watch or a controller has such a stack, since any
//! of them may meet the object.

use std::{
    cell::Cell,
    pin::Pin,
    sync::{
        Condvar, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures::Stream;
use serde::Deserialize;
use serde_json::Value;

/// How deep a document may be, as in Go.
pub(crate) const LIMIT: usize = 10_000;
/// How deep a document may be on the stack of any thread.
pub(crate) const ORDINARY: usize = 100;
/// How much of a stack a level takes at most, in all functions that call each other for it.
const LEVEL: usize = if cfg!(debug_assertions) { 16 * 1024 } else { 4 * 1024 };

/// How many bytes the deep stacks of turns take together at most: many requests at once do not exhaust the address space.
const STACKS: usize = 192 << 20;

static FREE_STACKS: Mutex<usize> = Mutex::new(STACKS / (LIMIT * LEVEL));
static STACK_IS_FREE: Condvar = Condvar::new();

/// Whether turns have deep stacks.
static IS_DEEP: AtomicBool = AtomicBool::new(false);
/// Held by those who have a turn on an ordinary stack.
static ORDINARY_TURNS: RwLock<()> = RwLock::new(());

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    None,
    Ordinary,
    Deep,
}

thread_local! {
    static TURN: Cell<Turn> = const { Cell::new(Turn::None) };
    static WAS_STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// How deep a document may be here.
pub(crate) fn limit() -> usize {
    if TURN.get() == Turn::Deep && has_begun() { LIMIT } else { ORDINARY }
}

/// Says that a document was refused for its depth. It may be accepted on a deep stack.
pub(crate) fn stop() {
    WAS_STOPPED.set(!has_begun());
}

/// Whether something was refused in this turn, for which a deep stack is needed.
pub(crate) fn was_stopped() -> bool {
    WAS_STOPPED.take()
}

/// Begins the deep stacks: waits until nobody has a turn on an ordinary one.
pub(crate) fn begin() {
    IS_DEEP.store(true, Ordering::SeqCst);
    drop(ORDINARY_TURNS.write().unwrap_or_else(PoisonError::into_inner));
}

fn has_begun() -> bool {
    IS_DEEP.load(Ordering::SeqCst)
}

/// A turn: does something with objects, on a stack that is deep enough for all that there are.
pub(crate) fn turn<T>(act: impl FnOnce() -> T) -> T {
    if TURN.get() != Turn::None {
        return act();
    }
    let ordinary = ORDINARY_TURNS.read().unwrap_or_else(PoisonError::into_inner);
    if has_begun() {
        drop(ordinary);
        let _stack = Stack::take();
        return deep(act);
    }
    within(Turn::Ordinary, act)
}

/// One of the deep stacks that turns have at one time. A turn waits for none while it has one.
struct Stack;

impl Stack {
    fn take() -> Self {
        let free = FREE_STACKS.lock().unwrap_or_else(PoisonError::into_inner);
        let free = STACK_IS_FREE.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Self
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        *FREE_STACKS.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        STACK_IS_FREE.notify_one();
    }
}

/// A turn on a deep stack, for those who may wait for others in it: no one waits for its end.
pub(crate) fn deep<T>(act: impl FnOnce() -> T) -> T {
    if TURN.get() == Turn::Deep {
        return act();
    }
    stacker::grow(LIMIT * LEVEL, || within(Turn::Deep, act))
}

fn within<T>(turn: Turn, act: impl FnOnce() -> T) -> T {
    /// Also after a panic.
    struct Back(Turn);
    impl Drop for Back {
        fn drop(&mut self) {
            TURN.set(self.0);
        }
    }
    WAS_STOPPED.set(false);
    let _back = Back(TURN.replace(turn));
    act()
}

/// A future or a stream that is polled in turns.
pub(crate) struct Turns<F>(Option<Pin<Box<F>>>);

impl<F> Turns<F> {
    pub(crate) fn of(inner: F) -> Self {
        Self(Some(Box::pin(inner)))
    }
}

impl<F: Future> Future for Turns<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match &mut self.0 {
            Some(inner) => turn(|| inner.as_mut().poll(cx)),
            None => Poll::Pending,
        }
    }
}

impl<S: Stream> Stream for Turns<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        match &mut self.0 {
            Some(inner) => turn(|| inner.as_mut().poll_next(cx)),
            None => Poll::Ready(None),
        }
    }
}

impl<F> Drop for Turns<F> {
    fn drop(&mut self) {
        let inner = self.0.take();
        turn(|| drop(inner));
    }
}

/// Reads JSON that was written here, however deep it is.
pub(crate) fn parse(json: &[u8]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader)?;
    reader.end().map(|()| value)
}

/// Whether a document is deeper than that.
pub(crate) fn is_deeper(value: &Value, levels: usize) -> bool {
    let below = |value| levels == 0 || is_deeper(value, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(below),
        Value::Object(fields) => fields.values().any(below),
        _ => false,
    }
}

/// How deep a text of JSON is nested; what is not one has any depth.
pub(crate) fn nesting(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicUsize, thread};

    use super::*;

    #[test]
    fn the_nesting_of_json_counts_brackets_outside_of_strings() {
        for (text, depth) in [
            ("", 0),
            ("1", 0),
            ("{}", 1),
            (r#"[{"a":[]},[]]"#, 3),
            (r#"{"[[[":"]]]"}"#, 1),
            (r#"["\"[[["]"#, 1),
            (r#"["\\",[]]"#, 2),
        ] {
            assert_eq!(nesting(text.as_bytes()), depth, "{text}");
        }
    }

    #[test]
    fn a_document_at_the_limit_is_read_copied_compared_written_and_dropped() {
        let text = format!("{}{}", "[".repeat(LIMIT), "]".repeat(LIMIT));
        deep(|| {
            let value = parse(text.as_bytes()).unwrap();
            assert_eq!(value.clone(), value);
            assert_eq!(value.to_string(), text);
            assert!(is_deeper(&value, LIMIT - 2) && !is_deeper(&value, LIMIT - 1));
        });
    }

    #[test]
    fn turns_on_many_threads_share_a_few_stacks() {
        static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        begin();
        let act = || {
            MOST.fetch_max(AT_ONCE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            AT_ONCE.fetch_sub(1, Ordering::SeqCst);
        };
        thread::scope(|threads| {
            for _ in 0..16 {
                threads.spawn(|| turn(|| turn(act)));
            }
        });
        assert!((1..=STACKS / (LIMIT * LEVEL)).contains(&MOST.load(Ordering::SeqCst)));
    }

    #[test]
    fn only_a_turn_on_a_deep_stack_bears_more_than_usual_and_only_once_they_have_begun() {
        assert_eq!(limit(), ORDINARY);
        let stopped = turn(|| {
            stop();
            was_stopped()
        });
        assert!(stopped || has_begun());
        begin();
        let after = turn(|| {
            stop();
            (limit(), was_stopped())
        });
        assert_eq!(after, (LIMIT, false));
        assert_eq!(limit(), ORDINARY);
    }
}
