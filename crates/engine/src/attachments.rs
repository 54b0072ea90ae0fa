//! What people send along with a message: how much of it, of which kind, and how it reaches an agent or the main AI.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::{Attached, Connection};
use domain::agent::{Failure, Fault, Update};
use domain::attachment::{Attachment, AttachmentKind};
use domain::event::{Delegation, Message};
use domain::ids::{AttachmentId, MessageId, SessionId, TurnId};
use store::{AttachmentRow, Row, Store, StoreError};
use uuid::Uuid;

use crate::Refusal;
use crate::actor::Actor;
use crate::settings::RELAY;

pub(crate) const COUNT_MAX: usize = 20;
pub const ATTACHMENT_MAX: usize = 8 * 1024 * 1024;
/// All attachments of one message.
pub const MESSAGE_MAX: usize = 16 * 1024 * 1024;
/// All attachments of one session.
const SESSION_MAX: u64 = 256 * 1024 * 1024;
const NAME_MAX: usize = 255;
/// How much of one file's text the main AI reads.
const TEXT_FOR_MODEL: usize = 64 * 1024;

/// Something to be sent along, not checked yet.
#[derive(Clone, PartialEq, Debug)]
pub enum NewAttachment {
    Image { name: String, mime_type: String, data: Vec<u8> },
    File { name: String, mime_type: String, data: Vec<u8> },
    Path { path: String },
}

impl NewAttachment {
    fn name(&self) -> &str {
        match self {
            NewAttachment::Image { name, .. } | NewAttachment::File { name, .. } => name,
            NewAttachment::Path { path } => path,
        }
    }

    fn size(&self) -> usize {
        match self {
            NewAttachment::Image { data, .. } | NewAttachment::File { data, .. } => data.len(),
            NewAttachment::Path { .. } => 0,
        }
    }
}

/// Everything that can be told without looking at the session or the disk.
pub(crate) fn check(attachments: &[NewAttachment]) -> Result<(), Refusal> {
    if attachments.len() > COUNT_MAX {
        return Err(Refusal::Invalid(format!("{} attachments are too many: a message takes {COUNT_MAX}", attachments.len())));
    }
    for attachment in attachments {
        let (name, size) = (attachment.name(), attachment.size());
        if name.is_empty() || name.len() > NAME_MAX || name.chars().any(char::is_control) {
            return Err(Refusal::Invalid(format!("the name of an attachment must have 1 to {NAME_MAX} printable bytes")));
        }
        if size > ATTACHMENT_MAX {
            let message = format!("`{name}` is too large: it has {}, and an attachment may have {}", mib(size), mib(ATTACHMENT_MAX));
            return Err(Refusal::TooLarge(message));
        }
        if let NewAttachment::Image { mime_type, data, .. } = attachment {
            check_image(name, mime_type, data)?;
        }
    }
    let total: usize = attachments.iter().map(NewAttachment::size).sum();
    if total > MESSAGE_MAX {
        let last = attachments.last().map_or("", NewAttachment::name);
        let message = format!("`{last}` is one too many: all attachments of a message together may have {}", mib(MESSAGE_MAX));
        return Err(Refusal::TooLarge(message));
    }
    Ok(())
}

/// An image is what its first bytes say, whatever it is called: models refuse anything else with a word about base64.
fn check_image(name: &str, mime_type: &str, data: &[u8]) -> Result<(), Refusal> {
    let unknown = || Refusal::Invalid(format!("`{name}` is no PNG, JPEG, GIF or WebP image: send it as a file"));
    let found = tools::image_type(data).ok_or_else(unknown)?;
    if found == mime_type { Ok(()) } else { Err(Refusal::Invalid(format!("`{name}` says it is {mime_type}, but it is {found}"))) }
}

fn mib(bytes: usize) -> String {
    format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0))
}

impl Actor {
    /// Puts what came with a message into the write that is being put together.
    pub(crate) fn attach(&mut self, message_id: MessageId, new: Vec<NewAttachment>) -> Result<Vec<Attachment>, Refusal> {
        self.check_agent_takes(&new)?;
        let made: Vec<_> = new.into_iter().map(|new| make(&self.row.work_dir, new)).collect::<Result<_, _>>()?;
        let shown = made.iter().map(|(about, _)| about.clone()).collect();
        self.rows.extend(made.into_iter().map(|(about, data)| Row::Attachment(AttachmentRow { message_id, about, data })));
        Ok(shown)
    }

    /// Whether there is room for what came with a message: in the session, and on the disk.
    pub(crate) async fn check_room_for(&self, new: &[NewAttachment]) -> Result<(), Refusal> {
        let size: usize = new.iter().map(NewAttachment::size).sum();
        if size == 0 {
            return Ok(());
        }
        self.shared.check_room().await?;
        let stored = self.shared.store.attachment_bytes(self.id).await?;
        if stored + size as u64 > SESSION_MAX {
            let most = crate::size(SESSION_MAX);
            let message = format!("all attachments of a session together may have {most}, and this one has {}", crate::size(stored));
            return Err(Refusal::TooLarge(format!("{message}: start a new session")));
        }
        Ok(())
    }

    /// Where the agent has said already what it takes, a person need not wait for its word.
    fn check_agent_takes(&self, new: &[NewAttachment]) -> Result<(), Refusal> {
        let runner = self.machine.hosts().find(|host| host.agent() == self.row.agent).and_then(|host| host.runner());
        let connection = runner.and_then(|runner| self.links.connection(runner));
        let takes_images = connection.is_none_or(|connection| connection.capabilities().image);
        let image = new.iter().find(|new| matches!(new, NewAttachment::Image { .. }));
        match image.filter(|_| self.row.model == RELAY && !takes_images) {
            Some(image) => {
                let agent = self.shared.agent_title(&self.row.agent);
                Err(Refusal::Invalid(format!("{agent} takes no images: send the message without `{}`", image.name())))
            }
            None => Ok(()),
        }
    }
}

fn make(work_dir: &str, new: NewAttachment) -> Result<(Attachment, Arc<[u8]>), Refusal> {
    let id = AttachmentId(Uuid::now_v7());
    let (kind, name, mime_type, data) = match new {
        NewAttachment::Image { name, mime_type, data } => (AttachmentKind::Image, name, mime_type, data),
        NewAttachment::File { name, mime_type, data } => (AttachmentKind::File, name, mime_type, data),
        NewAttachment::Path { path } => {
            let found = tools::find(work_dir.as_ref(), &path).map_err(Refusal::Invalid)?;
            let mime_type = if found.is_dir { "inode/directory" } else { "application/octet-stream" }.to_owned();
            let about = Attachment { id, kind: AttachmentKind::Path, name: found.path, mime_type, size: found.size };
            return Ok((about, Arc::from([])));
        }
    };
    let size = data.len() as u64;
    Ok((Attachment { id, kind, name, mime_type, size }, data.into()))
}

/// What a person sent along with the message of a turn, on its way to a session of an agent's.
pub(crate) struct SentAlong {
    pub session: SessionId,
    pub turn_id: TurnId,
    pub work_dir: PathBuf,
    pub agent: String,
    /// Of the agent's session.
    pub name: String,
    /// The person talks straight to the agent.
    pub straight: bool,
    /// The agent's session had to be made anew, and knows nothing of what the lost one was sent.
    pub renewed: bool,
}

impl SentAlong {
    /// What goes to the agent beside the words of a prompt: the attachments of the message, once for each of its sessions, and, where
    /// the words are a person's, the paths of the work directory that they mention. A path that is gone meanwhile is left to the words.
    pub(crate) async fn gather(&self, store: &Store, prompt: &str) -> Result<Vec<Attached>, Failure> {
        let unread = |reason: String| Failure::new(Fault::NotSent, format!("the attachments could not be read: {reason}"));
        let rows = self.rows(store).await.map_err(|error| unread(error.to_string()))?;
        let (work_dir, words) = (self.work_dir.clone(), self.straight.then(|| prompt.to_owned()));
        let gather = move || gather(rows, &work_dir, words.as_deref().unwrap_or_default());
        tokio::task::spawn_blocking(gather).await.map_err(|error| unread(error.to_string()))
    }

    async fn rows(&self, store: &Store) -> Result<Vec<AttachmentRow>, StoreError> {
        let rows = store.turn_attachments(self.session, self.turn_id).await?;
        if self.straight || self.renewed || rows.is_empty() {
            return Ok(rows);
        }
        let messages = store.turn_messages(self.session, self.turn_id).await?;
        Ok(if messages.iter().any(|message| self.went_along(message)) { Vec::new() } else { rows })
    }

    /// Whether this is the result of an earlier call in the same session, which the agent has worked on. A prompt that never reached
    /// it has brought nothing along.
    fn went_along(&self, message: &Message) -> bool {
        let worked = |earlier: &Delegation| {
            let said = message.display.as_deref().is_some_and(|text| !text.is_empty());
            said || earlier.updates.iter().any(|placed| !matches!(placed.update, Update::Notice { .. }))
        };
        let same = |earlier: &&Delegation| earlier.session_name == self.name && earlier.agent == self.agent;
        message.delegation.as_ref().filter(same).is_some_and(worked)
    }

    /// What the agent takes, and why it takes no more. To a person who talks straight to it a message without its image would be
    /// another message, so there nothing is left out, and the agent's refusal is theirs.
    pub(crate) fn sort_out(&self, connection: &Connection, attached: Vec<Attached>) -> (Vec<Attached>, Option<String>) {
        if self.straight {
            return (attached, None);
        }
        let (mut taken, mut refused) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for one in attached {
            match connection.refusal(&one) {
                Some(reason) => refused.entry(reason).or_default().push(one),
                None => taken.push(one),
            }
        }
        let names = |those: &[Attached]| those.iter().map(|one| one.name().to_owned()).collect::<Vec<_>>();
        let told: Vec<_> = refused.iter().map(|(reason, those)| agents::not_sent(reason, &names(those))).collect();
        (taken, (!told.is_empty()).then(|| told.join("; ")))
    }
}

fn gather(rows: Vec<AttachmentRow>, work_dir: &Path, prompt: &str) -> Vec<Attached> {
    let mut links: Vec<tools::Named> = Vec::new();
    let mut attached = Vec::new();
    for AttachmentRow { about, data, .. } in rows {
        let Attachment { name, mime_type, .. } = about;
        match about.kind {
            AttachmentKind::Image => attached.push(Attached::Image { name, mime_type, data }),
            AttachmentKind::File => attached.push(Attached::File { name, mime_type, data }),
            AttachmentKind::Path => links.extend(tools::find(work_dir, &name)),
        }
    }
    for named in tools::mentioned(work_dir, prompt) {
        if !links.contains(&named) {
            links.push(named);
        }
    }
    attached.extend(links.into_iter().map(|named| {
        let size = (!named.is_dir).then_some(named.size);
        Attached::Link { name: named.path, path: named.real, size }
    }));
    attached
}

pub(crate) type Contents = HashMap<AttachmentId, Arc<[u8]>>;

/// The bytes of what the conversation holds, the latest first, up to what one message may have.
pub(crate) async fn contents(store: &Store, session: SessionId, messages: &[Message]) -> Result<Contents, Refusal> {
    let mut contents = Contents::new();
    let mut room = MESSAGE_MAX as u64;
    for about in messages.iter().rev().flat_map(|message| &message.attachments).filter(|about| about.kind != AttachmentKind::Path) {
        if about.size > room {
            continue;
        }
        if let Some(row) = store.attachment(session, about.id).await? {
            room -= about.size;
            contents.insert(about.id, row.data);
        }
    }
    Ok(contents)
}

/// What the main AI has to know of each: it need not repeat it to agents.
const CARRIED: &str = "In the turn of this message it goes along with the first prompt to each agent session; \
                       the result says so where the agent doesn't take it";

/// A person's message as the main AI reads it: the words, what came with them, and the images as images.
pub(crate) fn for_model(message: &Message, contents: &Contents) -> model::Message {
    let mut text = message.content.clone();
    let mut images = Vec::new();
    for about in &message.attachments {
        let name = &about.name;
        let data = contents.get(&about.id);
        let note = match (about.kind, data) {
            (AttachmentKind::Path, _) => format!("[Attached: `{name}` in the work directory]"),
            (_, None) => format!("[Attached: `{name}`, no longer shown]"),
            (AttachmentKind::Image, Some(data)) => {
                images.push(model::Image { name: name.clone(), mime_type: about.mime_type.clone(), data: data.clone() });
                format!("[Attached: the image `{name}`. {CARRIED}]")
            }
            (AttachmentKind::File, Some(data)) => match std::str::from_utf8(data) {
                Ok(content) => {
                    let shown = domain::text::clip(content, TEXT_FOR_MODEL);
                    let cut = if shown.len() < content.len() { " (cut)" } else { "" };
                    format!("[Attached: the file `{name}`{cut}. {CARRIED}]\n{shown}\n[End of `{name}`]")
                }
                Err(_) => format!("[Attached: the file `{name}` ({}), which is no text: you cannot read it. {CARRIED}]", about.mime_type),
            },
        };
        text.push_str(&format!("\n\n{note}"));
    }
    if images.is_empty() { model::Message::User(text) } else { model::Message::UserWithImages { text, images } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: &str, mime_type: &str, data: &[u8]) -> NewAttachment {
        NewAttachment::Image { name: name.into(), mime_type: mime_type.into(), data: data.into() }
    }

    fn file(name: &str, size: usize) -> NewAttachment {
        NewAttachment::File { name: name.into(), mime_type: "text/plain".into(), data: vec![b'x'; size] }
    }

    #[test]
    fn limits_name_the_attachment() {
        assert!(check(&[image("a.png", "image/png", b"\x89PNG...."), file("b", ATTACHMENT_MAX)]).is_ok());
        let table: [(Vec<NewAttachment>, &str, bool); 6] = [
            (vec![file("big.bin", ATTACHMENT_MAX + 1)], "`big.bin` is too large: it has 8.0 MiB", true),
            ((0..3).map(|n| file(&format!("f{n}"), ATTACHMENT_MAX - 1000)).collect(), "`f2` is one too many", true),
            ((0..=COUNT_MAX).map(|_| file("f", 1)).collect(), "21 attachments are too many", false),
            (vec![image("a.png", "image/png", b"<svg>")], "`a.png` is no PNG", false),
            (vec![image("a.png", "image/png", b"\xff\xd8\xff\xe0")], "but it is image/jpeg", false),
            (vec![file("a\nb", 1)], "printable", false),
        ];
        for (attachments, words, large) in table {
            let refusal = check(&attachments).unwrap_err();
            assert!(refusal.to_string().contains(words), "{refusal}");
            assert_eq!(matches!(refusal, Refusal::TooLarge(_)), large, "{refusal}");
        }
    }
}
