//! One case: a target run on one input, and what broke.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::allocator;
use crate::features::Features;
use crate::targets::Target;

/// What a case broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What two inputs have in common that show the same defect.
    pub key: String,
    pub message: String,
}

/// The first panic of the running case, on whichever thread.
static PANIC: Mutex<Option<Failure>> = Mutex::new(None);

/// Keeps panics for the case that is running instead of printing them.
pub fn watch_panics() {
    std::panic::set_hook(Box::new(|info| {
        PANIC.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| described(info));
    }));
}

fn described(info: &PanicHookInfo<'_>) -> Failure {
    let place = info.location().map_or_else(|| "unknown place".to_owned(), |place| format!("{}:{}", place.file(), place.line()));
    let message = info.payload_as_str().unwrap_or("a panic without a message");
    Failure { key: place.clone(), message: format!("panic at {place}: {message}") }
}

/// Runs the target on the input. Needs [`watch_panics`].
pub fn run(target: &Target, input: &[u8], features: &mut Features) -> Result<(), Failure> {
    *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let before = allocator::start();
    let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(input, features)));
    let held = allocator::peak().saturating_sub(before);
    if let Some(failure) = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(failure);
    }
    if ended.is_err() {
        return Err(Failure { key: "panic".to_owned(), message: "a panic that was not seen".to_owned() });
    }
    features.note_size("memory", held);
    let bound = target.memory.bound(input.len());
    if held > bound {
        let message = format!("{} bytes of input took {held} bytes of memory; at most {bound} are allowed", input.len());
        return Err(Failure { key: "memory".to_owned(), message });
    }
    Ok(())
}
