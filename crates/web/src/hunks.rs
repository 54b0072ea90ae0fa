//! Changes as hunks, made when they are sent: what nobody asks for is not compared.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use domain::agent::{PermissionAsk, ToolContent, Update};
use domain::event::{FileHunks, Message, PermissionRequest};
use domain::text::digest;
use domain::{patch, rule, runs_later};
use render::hunks::{between, of_patch};
use serde_json::Value;

/// So many comparisons are kept, and about so many bytes of texts that were compared; a change is sent many times, as it is and to each reader.
const KEPT: usize = 512;
const KEPT_BYTES: usize = 8 * 1024 * 1024;
/// Larger texts are not compared: the page shows that they changed.
const TEXT_BYTES: usize = 1024 * 1024;
/// So long is compared for one thing that is sent; what is left over has no hunks.
const BUDGET: Duration = Duration::from_secs(1);
/// Of one request.
const MOST_FILES: usize = 64;

#[derive(Clone, Default)]
pub(crate) struct Cache {
    compared: Arc<Mutex<Compared>>,
}

#[derive(Default)]
struct Compared {
    hunks: HashMap<String, Arc<Value>>,
    bytes: usize,
}

/// Whether an event that is stored as this may hold a change: a look that costs next to nothing.
pub(crate) fn may_hold_change(data: &[u8]) -> bool {
    const MARK: &[u8] = br#""type":"diff""#;
    data.windows(MARK.len()).any(|window| window == MARK)
}

impl Cache {
    pub(crate) async fn fill_update(&self, update: &mut Update) {
        say_declined(update);
        if changes(update).next().is_some() {
            let taken = std::mem::replace(update, Update::Thought { text: String::new() });
            *update = self.compare(taken, |cache, update, until| changes(update).for_each(|change| cache.fill(change, until))).await;
        }
    }

    /// What the agents of a delegation changed.
    pub(crate) async fn fill_message(&self, message: &mut Message) {
        let Some(delegation) = &mut message.delegation else { return };
        delegation.updates.iter_mut().for_each(|placed| say_declined(&mut placed.update));
        if delegation.updates.iter_mut().any(|placed| changes(&mut placed.update).next().is_some()) {
            let updates = std::mem::take(&mut delegation.updates);
            let fill = |cache: &Cache, updates: &mut Vec<domain::event::PlacedUpdate>, until| {
                updates.iter_mut().flat_map(|placed| changes(&mut placed.update)).for_each(|change| cache.fill(change, until));
            };
            delegation.updates = self.compare(updates, fill).await;
        }
    }

    /// What is asked for, what its answers read, what an answer for always can cover, and what to warn about.
    pub(crate) async fn fill_request(&self, request: &mut PermissionRequest) {
        request.ask.fill_labels();
        request.scopes = rule::choices(&request.agent, &request.ask);
        request.warnings = runs_later::warnings(&request.ask);
        if let Some(diff) = request.ask.diff.clone().filter(|diff| diff.len() <= TEXT_BYTES) {
            let otherwise = named(&request.ask);
            let read = move |_: &Cache, hunks: &mut Vec<FileHunks>, until: Instant| *hunks = files(&diff, &otherwise, until);
            request.hunks = self.compare(Vec::new(), read).await;
        }
    }

    /// On a thread of its own.
    async fn compare<T: Send + 'static>(&self, mut what: T, work: impl FnOnce(&Cache, &mut T, Instant) + Send + 'static) -> T {
        let cache = self.clone();
        let compared = tokio::task::spawn_blocking(move || {
            work(&cache, &mut what, Instant::now() + BUDGET);
            what
        });
        compared.await.expect("comparing texts does not panic")
    }

    fn fill(&self, change: &mut ToolContent, until: Instant) {
        let ToolContent::Diff { old_text, new_text, hunks, .. } = change else { return };
        let old = old_text.as_deref().unwrap_or_default();
        let bytes = old.len() + new_text.len();
        if bytes > TEXT_BYTES || Instant::now() > until {
            return;
        }
        let key = digest(&format!("{}\n{old}{new_text}", old.len()));
        if let Some(known) = self.table().hunks.get(&key).cloned() {
            *hunks = Some(known.as_ref().clone());
            return;
        }
        let made = serde_json::to_value(between(old, new_text)).unwrap_or_default();
        let mut table = self.table();
        if table.hunks.len() >= KEPT || table.bytes + bytes > KEPT_BYTES {
            *table = Compared::default();
        }
        table.bytes += bytes;
        table.hunks.insert(key, Arc::new(made.clone()));
        *hunks = Some(made);
    }

    fn table(&self) -> MutexGuard<'_, Compared> {
        self.compared.lock().expect("no code panics while it holds what was compared")
    }
}

/// Logs of earlier versions have another word for it.
fn say_declined(update: &mut Update) {
    if let Update::ToolCall(call) = update
        && call.status.as_deref() == Some("rejected")
    {
        call.status = Some("declined".to_owned());
    }
}

fn changes(update: &mut Update) -> impl Iterator<Item = &mut ToolContent> {
    let call = if let Update::ToolCall(call) = update { Some(call) } else { None };
    let content = call.into_iter().flat_map(|call| call.content.iter_mut().flatten());
    content.filter(|content| matches!(content, ToolContent::Diff { .. }))
}

/// Where the diff itself names no file.
fn named(ask: &PermissionAsk) -> String {
    let file = ask.files.first().map(|file| file.path.clone());
    file.or_else(|| ask.locations.first().map(|location| location.path.clone())).unwrap_or_default()
}

fn files(diff: &str, otherwise: &str, until: Instant) -> Vec<FileHunks> {
    let parts = patch::files(diff).into_iter().take(MOST_FILES).take_while(|_| Instant::now() <= until);
    let read = |(name, part): (String, &str)| FileHunks {
        path: if name.is_empty() { otherwise.to_owned() } else { name },
        hunks: serde_json::to_value(of_patch(part)).unwrap_or_default(),
    };
    parts.map(read).filter(|file| file.hunks.as_array().is_some_and(|hunks| !hunks.is_empty())).collect()
}

#[cfg(test)]
mod tests {
    use domain::agent::ToolCall;

    use super::*;

    fn edit(old: &str, new: &str) -> Update {
        let change = ToolContent::Diff { path: "a".to_owned(), old_text: Some(old.to_owned()), new_text: new.to_owned(), hunks: None };
        Update::ToolCall(ToolCall { id: "t".to_owned(), content: Some(vec![change]), ..ToolCall::default() })
    }

    fn hunks(update: &mut Update) -> Option<Value> {
        changes(update).find_map(|change| if let ToolContent::Diff { hunks, .. } = change { hunks.clone() } else { None })
    }

    #[tokio::test]
    async fn a_change_gets_its_hunks_once_and_a_huge_one_none() {
        let cache = Cache::default();
        for _ in 0..2 {
            let mut update = edit("one\ntwo\n", "one\n2\n");
            cache.fill_update(&mut update).await;
            let made = hunks(&mut update).expect("it was compared");
            assert_eq!(made[0]["lines"][1]["text"], "two", "{made}");
        }
        assert_eq!(cache.table().hunks.len(), 1);
        let mut huge = edit("", &"x\n".repeat(TEXT_BYTES));
        cache.fill_update(&mut huge).await;
        assert_eq!(hunks(&mut huge), None);
    }

    #[test]
    fn what_holds_no_change_is_not_read() {
        let event = |update: &Update| serde_json::to_vec(update).expect("it is plain data");
        assert!(may_hold_change(&event(&edit("", "a"))));
        assert!(!may_hold_change(&event(&Update::Thought { text: "a \"type\":\"diff\" in words".to_owned() })));
    }
}
