//! Messages rendered to safe HTML, once each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use domain::event::{Event, Message, Role};
use domain::ids::MessageId;

use crate::hunks;

/// Whole messages kept rendered; a finished message never changes, so a rendering never goes stale.
const KEPT: usize = 256;

#[derive(Clone, Default)]
pub(crate) struct Cache {
    rendered: Arc<Mutex<HashMap<MessageId, String>>>,
    hunks: hunks::Cache,
}

impl Cache {
    /// Fills in what an event holds only when it is sent.
    pub(crate) async fn complete(&self, event: &mut Event) {
        match event {
            Event::Message(message) => self.fill(message).await,
            Event::AgentUpdate(update) => self.hunks.fill_update(&mut update.update).await,
            Event::PermissionRequest(request) => self.hunks.fill_request(request).await,
            _ => {}
        }
    }

    /// Fills in the `html` of a finished assistant message, and the hunks of what a delegation changed.
    pub(crate) async fn fill(&self, message: &mut Message) {
        self.hunks.fill_message(message).await;
        if message.role != Role::Assistant || message.content.is_empty() {
            return;
        }
        if let Some(known) = self.table().get(&message.id).cloned() {
            message.html = Some(known);
            return;
        }
        let html = markdown(message.content.clone()).await;
        let mut table = self.table();
        if table.len() >= KEPT {
            table.clear();
        }
        table.insert(message.id, html.clone());
        message.html = Some(html);
    }

    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<MessageId, String>> {
        self.rendered.lock().expect("no code panics while it holds the renderings")
    }
}

/// Rendering can take milliseconds, which belong on a thread of their own.
pub(crate) async fn markdown(text: String) -> String {
    let rendered = tokio::task::spawn_blocking(move || render::markdown(&text)).await;
    rendered.unwrap_or_else(|error| {
        tracing::error!(%error, "a message could not be rendered");
        String::new()
    })
}
