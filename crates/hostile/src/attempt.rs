//! Running a case without falling with it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::{Case, Report, run};

/// What went wrong in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The message.
    pub message: String,
    /// File and line.
    pub place: String,
}

/// How often a case that seems to be slow has to be slow again: another process may have been in the way.
const SLOW_TWICE_MORE: u32 = 2;

/// [`run`]s a case, and catches what it panics with.
///
/// # Errors
///
/// What did not hold.
pub fn attempt(case: &Case) -> Result<Report, Failure> {
    let mut result = attempt_once(case);
    for _ in 0..SLOW_TWICE_MORE {
        if result.as_ref().is_err_and(Failure::is_slow) {
            result = attempt_once(case);
        }
    }
    result
}

fn attempt_once(case: &Case) -> Result<Report, Failure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| if ATTEMPTING.get() { note(info) } else { others(info) }));
    });
    ATTEMPTING.set(true);
    let result = catch_unwind(|| run(case));
    ATTEMPTING.set(false);
    result.map_err(|_| LAST.take().expect("the hook was called"))
}

thread_local! {
    /// Panics of this thread are caught, and not printed.
    static ATTEMPTING: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

fn note(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    let message = text.unwrap_or("a panic without a message").to_owned();
    let place = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
    LAST.set(Some(Failure { message, place }));
}

impl Failure {
    fn is_slow(&self) -> bool {
        self.message.starts_with("slow: ")
    }

    /// What failures with the same cause most likely have in common: the place, and the message without its numbers.
    pub fn kind(&self) -> String {
        let words = self.message.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
        let message: Vec<&str> = words.take(12).collect();
        format!("{}: {}", self.place, message.join(" "))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.place)
    }
}
