//! What is tried on every agent, in this order. Each check says what was seen, whether it held or not.

mod asking;
mod breaking;
mod sandbox;
mod talking;

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::driven::Driven;

/// The end of the server, which is looked at whatever is chosen: nothing may run on.
pub(crate) const LAST: &str = "nothing left";

/// What came of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Finding {
    /// It held, perhaps with a word on how.
    Held(String),
    /// The agent does not do this, and says so.
    Absent(String),
    Failed(String),
}

pub(crate) type Outcome = Result<Finding, String>;

pub(crate) struct Check {
    /// The head of its column.
    pub name: &'static str,
    pub run: for<'a> fn(&'a mut Driven) -> LocalBoxFuture<'a, Outcome>,
}

pub(crate) const ALL: [Check; 17] = [
    Check { name: "found", run: |driven| talking::found(driven).boxed_local() },
    Check { name: "version", run: |driven| talking::version(driven).boxed_local() },
    Check { name: "text", run: |driven| talking::text(driven).boxed_local() },
    Check { name: "asks", run: |driven| asking::allowed(driven).boxed_local() },
    Check { name: "rejected", run: |driven| asking::rejected(driven).boxed_local() },
    Check { name: "deny", run: |driven| asking::denied(driven).boxed_local() },
    Check { name: "file", run: |driven| asking::file(driven).boxed_local() },
    Check { name: "stop", run: |driven| breaking::stopped(driven).boxed_local() },
    Check { name: "stop tool", run: |driven| breaking::tool_stopped(driven).boxed_local() },
    Check { name: "queue", run: |driven| talking::queue(driven).boxed_local() },
    Check { name: "two", run: |driven| talking::two_names(driven).boxed_local() },
    Check { name: "image", run: |driven| talking::image(driven).boxed_local() },
    Check { name: "fault", run: |driven| breaking::model_fault(driven).boxed_local() },
    Check { name: "killed", run: |driven| breaking::agent_killed(driven).boxed_local() },
    Check { name: "server killed", run: |driven| breaking::server_killed(driven).boxed_local() },
    Check { name: "own sessions", run: |driven| breaking::own_sessions(driven).boxed_local() },
    Check { name: "sandbox", run: |driven| sandbox::held_inside(driven).boxed_local() },
];

impl Check {
    /// Also what panics has only failed: the next check goes on.
    pub(crate) async fn on(&self, driven: &mut Driven) -> Finding {
        match AssertUnwindSafe((self.run)(driven)).catch_unwind().await {
            Ok(Ok(finding)) => finding,
            Ok(Err(why)) => Finding::Failed(why),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                Finding::Failed(text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default())
            }
        }
    }
}

/// It held, and there is nothing to say about it.
fn held() -> Outcome {
    Ok(Finding::Held(String::new()))
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
