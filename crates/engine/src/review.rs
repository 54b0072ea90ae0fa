//! What people note on changes: sent as an ordinary message, and kept until it is resolved.

use domain::ids::{CommentId, SessionId};
use domain::review::{Comment, Side, Verdict, digest};
use jiff::Timestamp;
use store::{Row, Write};
use uuid::Uuid;

use crate::command::{Command, Posted, Refusal};
use crate::settings::RELAY;
use crate::{Engine, size};

/// The scope of a session's own changes; that of an artifact is its id.
pub const CHANGES: &str = "changes";
/// Of one session, those that were sent and are not resolved among them.
const MOST_COMMENTS: u64 = 500;
const MOST_VIEWED: u64 = 5000;
const PATH_MAX: usize = 4096;
const TEXT_MAX: usize = 10_000;
const QUOTE_MAX: usize = 4000;
const WORD_MAX: usize = 200;
/// Of what is sent at once.
const DIGEST_MAX: usize = 1024 * 1024;
/// The session that the relay talks to where nobody else is named.
const RELAY_SESSION: &str = "main";

/// A comment as it is made.
#[derive(Clone, Debug)]
pub struct NewComment {
    pub path: String,
    pub side: Side,
    pub from_line: Option<u32>,
    pub to_line: Option<u32>,
    pub quote: String,
    pub text: String,
    pub since: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Submission {
    pub verdict: Verdict,
    pub summary: String,
    /// The name of an agent session; none for the main AI.
    pub to: Option<String>,
    pub client_id: String,
}

impl Engine {
    pub async fn add_comment(&self, session: SessionId, scope: &str, new: NewComment) -> Result<Comment, Refusal> {
        self.row(session).await?;
        check_path(&new.path)?;
        check_text(&new.text)?;
        check("the quote", &new.quote, QUOTE_MAX)?;
        check("`since`", new.since.as_deref().unwrap_or_default(), WORD_MAX)?;
        check_lines(&new)?;
        if self.store().review_counts(session).await?.0 >= MOST_COMMENTS {
            return Err(Refusal::Conflict(format!("this session has {MOST_COMMENTS} comments: send them, or resolve what was sent")));
        }
        let NewComment { path, side, from_line, to_line, quote, text, since } = new;
        let (id, created_at) = (CommentId(Uuid::now_v7()), Timestamp::now());
        let comment = Comment { id, path, side, from_line, to_line, quote, text, since, created_at, sent_at: None };
        self.keep(session, Row::Comment { scope: scope.to_owned(), comment: comment.clone() }).await?;
        Ok(comment)
    }

    pub async fn edit_comment(&self, session: SessionId, scope: &str, id: CommentId, text: String) -> Result<Comment, Refusal> {
        check_text(&text)?;
        let comment = self.comment(session, scope, id).await?;
        if comment.sent_at.is_some() {
            return Err(Refusal::Conflict("the comment was sent already: write another one".to_owned()));
        }
        let comment = Comment { text, ..comment };
        self.keep(session, Row::Comment { scope: scope.to_owned(), comment: comment.clone() }).await?;
        Ok(comment)
    }

    /// Of one that was sent this resolves it.
    pub async fn remove_comment(&self, session: SessionId, scope: &str, id: CommentId) -> Result<(), Refusal> {
        let comment = self.comment(session, scope, id).await?;
        self.keep(session, Row::RemoveComments { ids: vec![comment.id] }).await
    }

    /// A file was looked at in the state of this digest, or is to be looked at again.
    pub async fn set_viewed(&self, session: SessionId, scope: &str, path: String, digest: String, viewed: bool) -> Result<(), Refusal> {
        self.row(session).await?;
        check_path(&path)?;
        check("the digest", &digest, WORD_MAX)?;
        if viewed && self.store().review_counts(session).await?.1 >= MOST_VIEWED {
            return Err(Refusal::Conflict(format!("{MOST_VIEWED} files of this session are marked already")));
        }
        self.keep(session, Row::View { scope: scope.to_owned(), path, digest: viewed.then_some(digest) }).await
    }

    /// Sends what was noted as a message; in the same commit the comments become sent ones, which stay until they are resolved. A repetition with the same client id sends nothing
    /// twice.
    pub async fn submit_review(&self, session: SessionId, scope: &str, review: Submission) -> Result<Posted, Refusal> {
        let row = self.row(session).await?;
        if let Some((message_id, turn_id, queued)) = self.store().message_by_client_id(session, &review.client_id).await? {
            return Ok(Posted { message_id, turn_id, queued });
        }
        check("the summary", &review.summary, TEXT_MAX)?;
        let mut comments = self.store().comments(session, scope).await?;
        comments.retain(|comment| comment.sent_at.is_none());
        if comments.is_empty() && review.summary.trim().is_empty() && review.verdict != Verdict::Approve {
            return Err(Refusal::Invalid("there is nothing to send: comment on a line, or write a summary".to_owned()));
        }
        if let Some(name) = &review.to {
            self.check_receiver(session, name, row.model == RELAY).await?;
        }
        let to = review.to.as_deref();
        let content = if row.model == RELAY {
            let digest = digest(review.verdict, &review.summary, None, &comments);
            to.map_or(digest.clone(), |name| format!("@{name} {digest}"))
        } else {
            digest(review.verdict, &review.summary, to, &comments)
        };
        if content.len() > DIGEST_MAX {
            let most = size(DIGEST_MAX as u64);
            return Err(Refusal::TooLarge(format!("the review is too large: it may have {most}; send some of it first")));
        }
        let sent = comments.into_iter().map(|comment| comment.id).collect();
        let client_id = Some(review.client_id);
        self.ask(session, |reply| Command::Post { content, client_id, attachments: Vec::new(), sent, reply }).await
    }

    /// A review goes to a session that there is. The relay can be told the name only where it can be written as an address.
    async fn check_receiver(&self, session: SessionId, name: &str, relay: bool) -> Result<(), Refusal> {
        let known = self.store().agent_sessions(session).await?.iter().any(|known| known.name == name);
        let is_first = relay && name == RELAY_SESSION;
        if !known && !is_first {
            return Err(Refusal::Invalid(format!("there is no agent session `{name}` here")));
        }
        let addressable = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
        if relay && !name.chars().all(addressable) {
            return Err(Refusal::Invalid(format!("`{name}` cannot be written as an address: only letters, digits, `.`, `_` and `-` can")));
        }
        Ok(())
    }

    async fn comment(&self, session: SessionId, scope: &str, id: CommentId) -> Result<Comment, Refusal> {
        let comments = self.store().comments(session, scope).await?;
        comments.into_iter().find(|comment| comment.id == id).ok_or(Refusal::NotFound("comment"))
    }

    async fn keep(&self, session: SessionId, row: Row) -> Result<(), Refusal> {
        self.store().commit(Write { session, events: Vec::new(), rows: vec![row] }).await?;
        Ok(())
    }
}

fn check(what: &str, text: &str, most: usize) -> Result<(), Refusal> {
    if text.chars().count() > most {
        return Err(Refusal::Invalid(format!("{what} is too long: it may have {most} characters")));
    }
    Ok(())
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::Invalid("the comment is empty: say what you think of it".to_owned()));
    }
    check("the comment", text, TEXT_MAX)
}

fn check_path(path: &str) -> Result<(), Refusal> {
    if path.is_empty() || path.chars().any(char::is_control) {
        return Err(Refusal::Invalid("`path` must name a file".to_owned()));
    }
    check("`path`", path, PATH_MAX)
}

fn check_lines(new: &NewComment) -> Result<(), Refusal> {
    let fits = match (new.side, new.from_line, new.to_line) {
        (Side::File, None, None) | (Side::Old | Side::New, Some(1..), None) => true,
        (Side::Old | Side::New, Some(from @ 1..), Some(to)) => to >= from,
        _ => false,
    };
    if fits { Ok(()) } else { Err(Refusal::Invalid("the lines are wrong: `from_line` is 1 or more, `to_line` not before it".to_owned())) }
}
