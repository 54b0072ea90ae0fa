//! An agent that npx fetches when it is started: people see what is going on, since it can take minutes.

use std::sync::Arc;
use std::time::Duration;

use domain::ids::RunnerId;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::Shared;
use crate::actor::{Actor, Ended};
use crate::catalogue::without_paths;

const LOOK: Duration = Duration::from_millis(500);
/// How many lines of one fetch are told in a session; the catalogue has the last one all the same.
const TOLD_MAX: u32 = 20;
const CODE: &str = "agent_installing";

/// For as long as it lives, the agent counts as being fetched.
pub(super) struct Fetching {
    shared: Arc<Shared>,
    agent: String,
    _over: DropGuard,
}

impl Drop for Fetching {
    fn drop(&mut self) {
        self.shared.learn(&self.agent, |learned| learned.installing = None);
    }
}

/// What npx said since the last look.
pub(crate) struct Progress {
    agent: String,
    runner: RunnerId,
    line: String,
    told: u32,
    over: CancellationToken,
}

impl Actor {
    /// Says that the agent is fetched, and begins to watch that; nothing where it is installed.
    pub(super) fn fetch(&mut self, agent: &str, runner: RunnerId) -> Option<Fetching> {
        let package = self.shared.settings.fetched(agent)?.spec().to_owned();
        let title = self.shared.agent_title(agent);
        let text = format!("npx fetches {package} where it has not done so before; that can take some minutes");
        self.shared.learn(agent, |learned| learned.installing = Some(text.clone()));
        self.notice(CODE, "info", &format!("{title} is started through npx"), text, None);
        let over = CancellationToken::new();
        let shared = self.shared.clone();
        self.watch(Progress { agent: agent.to_owned(), runner, line: String::new(), told: 0, over: over.clone() });
        Some(Fetching { shared, agent: agent.to_owned(), _over: over.drop_guard() })
    }

    fn watch(&mut self, last: Progress) {
        let dir = self.shared.settings.runner_dir(last.runner);
        self.begin(async move {
            let changed = async {
                loop {
                    tokio::time::sleep(LOOK).await;
                    match agents::starting_line(&dir) {
                        Some(line) if line != last.line => return line,
                        _ => {}
                    }
                }
            };
            tokio::select! {
                line = changed => Ended::Fetching(Progress { line, told: last.told + 1, ..last }),
                () = last.over.cancelled() => Ended::Nothing,
            }
        });
    }

    pub(crate) fn fetch_went_on(&mut self, progress: Progress) {
        if progress.over.is_cancelled() {
            return;
        }
        let line = without_paths(&progress.line);
        self.shared.learn(&progress.agent, |learned| learned.installing = Some(line.clone()));
        if progress.told <= TOLD_MAX {
            let title = self.shared.agent_title(&progress.agent);
            self.notice(CODE, "info", &format!("{title} is being fetched"), line, None);
        }
        self.watch(progress);
    }
}
