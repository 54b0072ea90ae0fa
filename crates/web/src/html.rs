//! Messages rendered to safe HTML, once each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use domain::event::{Event, Message, Role};
use domain::ids::{MessageId, SessionId};
use store::{Store, StoreError};
use tokio::sync::OnceCell;

use crate::hunks;

/// Whole messages kept rendered; a finished message never changes, so a rendering never goes stale.
const KEPT: usize = 256;

/// Made by the first who asks, while the others wait for it; nothing where the message has no text.
type Html = Arc<OnceCell<Option<String>>>;

#[derive(Clone, Default)]
pub(crate) struct Cache {
    rendered: Arc<Mutex<HashMap<MessageId, Html>>>,
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
        if has_html(message) {
            message.html = self.html(message.id).get_or_init(async || Some(markdown(message.content.clone()).await)).await.clone();
        }
    }

    /// The `html` of a finished message: however many readers hear of its end, it is read and rendered once.
    pub(crate) async fn finished(&self, store: &Store, session: SessionId, id: MessageId) -> Result<Option<String>, StoreError> {
        let html = self.html(id);
        let rendered = html.get_or_try_init(async || match store.message(session, id).await? {
            Some(message) if has_html(&message) => Ok(Some(markdown(message.content).await)),
            _ => Ok(None),
        });
        rendered.await.cloned()
    }

    fn html(&self, id: MessageId) -> Html {
        let mut table = self.rendered.lock().expect("no code panics while it holds the renderings");
        if table.len() >= KEPT && !table.contains_key(&id) {
            table.clear();
        }
        Arc::clone(table.entry(id).or_default())
    }
}

fn has_html(message: &Message) -> bool {
    message.role == Role::Assistant && !message.content.is_empty()
}

/// Rendering can take milliseconds, which belong on a thread of their own.
pub(crate) async fn markdown(text: String) -> String {
    let rendered = tokio::task::spawn_blocking(move || render::markdown(&text)).await;
    rendered.unwrap_or_else(|error| {
        tracing::error!(%error, "a message could not be rendered");
        String::new()
    })
}
