//! How many lines of one kind the log takes for one session in a second. The rest is counted, and told later in one line.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tracing::Metadata;
use tracing::callsite::Identifier;

use super::line::Line;

const LINES: u64 = 20;
const WINDOW: Duration = Duration::from_secs(1);
/// How many kinds and sessions are watched at once; beyond that the counting begins anew.
const WATCHED: usize = 4096;

/// A kind is a place in the code.
type Key = (Identifier, String);

#[derive(Default)]
pub(super) struct Limit {
    windows: HashMap<Key, Window>,
    settled: Option<Instant>,
}

struct Window {
    began: Instant,
    lines: u64,
    metadata: &'static Metadata<'static>,
    message: String,
}

/// Lines that were not written.
pub(super) struct LeftOut {
    pub metadata: &'static Metadata<'static>,
    count: u64,
    message: String,
    peer: String,
}

impl LeftOut {
    pub(super) fn line(self) -> Line {
        let message = format!("… {} more lines of this kind were left out", self.count);
        Line::new(message, [("kind", self.message.into()), ("session", self.peer.into())])
    }
}

impl Limit {
    pub(super) fn admit(&mut self, metadata: &'static Metadata<'static>, line: &Line, now: Instant) -> bool {
        if self.windows.len() >= WATCHED {
            self.windows.clear();
        }
        let window = self.windows.entry((metadata.callsite(), line.peer().to_owned())).or_insert_with(|| Window {
            began: now,
            lines: 0,
            metadata,
            message: line.message().to_owned(),
        });
        window.lines += 1;
        window.lines <= LINES
    }

    /// Ends the windows whose time is over, and gives what was left out in them.
    pub(super) fn settle(&mut self, now: Instant) -> Vec<LeftOut> {
        if self.settled.is_some_and(|last| now < last + WINDOW / 4) {
            return Vec::new();
        }
        self.settled = Some(now);
        let over = self.windows.extract_if(|_, window| now >= window.began + WINDOW);
        let full = over.filter(|(_, window)| window.lines > LINES);
        full.map(|((_, peer), window)| LeftOut { metadata: window.metadata, count: window.lines - LINES, message: window.message, peer })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use tracing_subscriber::Layer;
    use tracing_subscriber::layer::{Context, SubscriberExt as _};

    use super::*;

    /// Keeps where an event came from.
    #[derive(Clone, Default)]
    struct Catch(Arc<OnceLock<&'static Metadata<'static>>>);

    impl<S: tracing::Subscriber> Layer<S> for Catch {
        fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
            let _ = self.0.set(event.metadata());
        }
    }

    fn metadata() -> &'static Metadata<'static> {
        let catch = Catch::default();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(catch.clone()), || tracing::error!("bad"));
        catch.0.get().unwrap()
    }

    #[test]
    fn what_is_too_much_is_counted_and_told_once_for_each_session() {
        let (mut limit, start, metadata) = (Limit::default(), Instant::now(), metadata());
        let line = |peer: &str| Line::new("bad".to_owned(), [("session", peer.into())]);
        let admitted = |limit: &mut Limit, peer: &str, at| {
            let taken = (0..50).filter(|_| limit.admit(metadata, &line(peer), at));
            taken.count()
        };
        assert_eq!((admitted(&mut limit, "a", start), admitted(&mut limit, "b", start)), (20, 20));
        assert!(limit.settle(start).is_empty(), "the second is not over");
        let later = start + WINDOW;
        let told: Vec<_> = limit.settle(later).into_iter().map(|left_out| left_out.count).collect();
        assert_eq!(told, [30, 30]);
        assert_eq!(admitted(&mut limit, "a", later), 20);
        assert!(limit.settle(later).is_empty());
    }
}
