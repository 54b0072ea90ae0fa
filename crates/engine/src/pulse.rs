//! How the server does: its numbers, and what is looked up when somebody asks for them. Nothing here touches the database.

use std::sync::Arc;

use telemetry::{Metrics, Moment, Reading, StoreCounts};

use crate::{Engine, Settings, observer};

pub(crate) fn metrics(settings: &Settings) -> Metrics {
    let agents = settings.catalogue.iter().map(|agent| agent.id.clone());
    Metrics::new(env!("CARGO_PKG_VERSION"), agents, &observer::model::outcomes())
}

impl Engine {
    /// What is counted.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.shared.metrics
    }

    /// All numbers, as Prometheus reads them.
    pub fn pulse(&self) -> String {
        self.shared.metrics.page(&self.moment())
    }

    fn moment(&self) -> Moment {
        let live = self.live();
        let inboxes = live.values().map(|live| &live.inbox).filter(|inbox| !inbox.is_closed());
        let (sessions, waiting) =
            inboxes.fold((0, 0), |(count, waiting), inbox| (count + 1, waiting + inbox.max_capacity() - inbox.capacity()));
        Moment {
            sessions_in_memory: sessions,
            waiting_commands: waiting,
            store: self.store_counts(),
            spans: self.shared.settings.spans.counts().cloned(),
        }
    }

    fn store_counts(&self) -> StoreCounts {
        let counts = self.shared.store.counts();
        let commit_seconds = Reading {
            bounds: store::COMMIT_TIMES_US.iter().map(|bound| *bound as f64 / 1e6).collect(),
            counts: counts.commit_times.to_vec(),
            sum_s: counts.commit_us as f64 / 1e6,
        };
        StoreCounts {
            commits: counts.commits,
            writes: counts.writes,
            events: counts.events,
            statements: counts.statements,
            reads: counts.reads,
            checkpoints: counts.checkpoints,
            waiting_writes: counts.waiting,
            commit_seconds,
        }
    }
}
