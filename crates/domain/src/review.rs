//! What a person notes on changes, and the message that it becomes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::CommentId;

/// Which text the lines of a comment are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReviewSide)]
pub enum Side {
    Old,
    New,
    /// It is about the whole file.
    File,
}

/// A comment, until somebody resolves it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ReviewComment)]
pub struct Comment {
    pub id: CommentId,
    pub path: String,
    pub side: Side,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_line: Option<u32>,
    /// The lines as they stood there.
    pub quote: String,
    pub text: String,
    /// Since when the changes were shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// When it went out with a review; none as long as it waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub sent_at: Option<Timestamp>,
}

/// A file that was looked at, in the state that it had then.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ViewedFile)]
pub struct Viewed {
    pub path: String,
    pub digest: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReviewVerdict)]
pub enum Verdict {
    Changes,
    Comment,
    Approve,
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Verdict::Changes => "I ask for changes.",
            Verdict::Comment => "Comment only: nothing has to be changed.",
            Verdict::Approve => "Looks good.",
        }
    }
}

/// The review as a message: the verdict, the summary, then file by file what was noted. `pass_on` is the name of the agent session that
/// whoever reads it is to give it to.
pub fn digest(verdict: Verdict, summary: &str, pass_on: Option<&str>, comments: &[Comment]) -> String {
    let mut text = format!("Review: {}", verdict.words());
    if let Some(name) = pass_on {
        text.push_str(&format!("\n\nThis is for the agent session `{name}`: pass it on to that session as it is."));
    }
    let summary = summary.trim();
    if !summary.is_empty() {
        text.push_str(&format!("\n\n{summary}"));
    }
    let mut paths: Vec<&str> = Vec::new();
    for comment in comments {
        if !paths.contains(&comment.path.as_str()) {
            paths.push(&comment.path);
        }
    }
    for path in paths {
        text.push_str(&format!("\n\n## {path}"));
        for comment in comments.iter().filter(|comment| comment.path == path) {
            text.push_str(&format!("\n\n{}", comment.place()));
            let quote = comment.quote.trim_end();
            if !quote.is_empty() {
                let quoted: Vec<String> = quote.lines().map(|line| format!("> {line}")).collect();
                text.push_str(&format!("\n\n{}", quoted.join("\n")));
            }
            text.push_str(&format!("\n\n{}", comment.text.trim()));
        }
    }
    text
}

impl Comment {
    fn place(&self) -> String {
        let before = if self.side == Side::Old { " (before the change)" } else { "" };
        match (self.side, self.from_line, self.to_line) {
            (Side::File, _, _) | (_, None, _) => format!("{} (the whole file)", self.path),
            (_, Some(from), Some(to)) if to > from => format!("{}:{from}-{to}{before}", self.path),
            (_, Some(from), _) => format!("{}:{from}{before}", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn comment(path: &str, side: Side, lines: Option<(u32, u32)>, quote: &str, text: &str) -> Comment {
        Comment {
            id: CommentId(Uuid::nil()),
            path: path.to_owned(),
            side,
            from_line: lines.map(|(from, _)| from),
            to_line: lines.map(|(_, to)| to),
            quote: quote.to_owned(),
            text: text.to_owned(),
            since: None,
            created_at: Timestamp::UNIX_EPOCH,
            sent_at: None,
        }
    }

    #[test]
    fn the_digest_says_the_verdict_and_then_where_and_what() {
        let comments = [
            comment("src/a.rs", Side::New, Some((3, 4)), "let a = 1;\nlet b = 2;\n", "one line will do"),
            comment("b.md", Side::File, None, "", "is this needed?"),
            comment("src/a.rs", Side::Old, Some((9, 9)), "old()", "why gone?"),
        ];
        assert_eq!(
            digest(Verdict::Changes, " Nearly. ", Some("work"), &comments),
            "Review: I ask for changes.\n\nThis is for the agent session `work`: pass it on to that session as it is.\n\nNearly.\n\n\
             ## src/a.rs\n\nsrc/a.rs:3-4\n\n> let a = 1;\n> let b = 2;\n\none line will do\n\n\
             src/a.rs:9 (before the change)\n\n> old()\n\nwhy gone?\n\n\
             ## b.md\n\nb.md (the whole file)\n\nis this needed?"
        );
        assert_eq!(digest(Verdict::Approve, "", None, &[]), "Review: Looks good.");
        assert_eq!(digest(Verdict::Comment, "x", None, &[]), "Review: Comment only: nothing has to be changed.\n\nx");
    }
}
