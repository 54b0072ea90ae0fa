//! Looking for words in titles and messages, the latest sessions first. A piece of the conversations is read at a time and the
//! connection given back in between, so that a long search holds up nobody, and it ends after a while whatever there is left.

use std::sync::Arc;
use std::time::Duration;

use domain::event::Role;
use domain::ids::{MessageId, SessionId};
use domain::text;
use jiff::Timestamp;
use tokio::time::Instant;

use crate::Store;
use crate::error::StoreError;
use crate::table::like::Sought;
use crate::table::{message, session};

const PATIENCE: Duration = Duration::from_secs(2);
/// How many messages are looked at at once.
const PIECE: u64 = 100;
/// What an excerpt shows of what is around the hit, in bytes.
const BEFORE: usize = 60;
const AFTER: usize = 140;

/// A title or a message that holds what was looked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Hit {
    pub session: SessionId,
    pub title: String,
    /// None where it is the title.
    pub message: Option<(MessageId, Role)>,
    /// The call whose result the message is.
    pub call: Option<String>,
    /// Plain text in one line.
    pub excerpt: String,
    pub at: Timestamp,
}

/// What a search came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// There may be others.
    pub more: bool,
}

pub(crate) async fn search(store: &Store, query: &str, limit: usize) -> Result<Found, StoreError> {
    let (sought, until) = (Arc::new(Sought::new(query)), Instant::now() + PATIENCE);
    let mut hits: Vec<Hit> = Vec::new();
    let sessions = store.read(session::conversations).await?;
    for (id, title, updated_at, messages) in sessions {
        if let Some(place) = sought.find(&title) {
            hits.push(Hit {
                session: id,
                title: title.clone(),
                message: None,
                call: None,
                excerpt: excerpt(&title, place),
                at: updated_at,
            });
        }
        let mut last = messages;
        while last > 0 && hits.len() <= limit && Instant::now() < until {
            let (from, most) = (last.saturating_sub(PIECE), limit + 1 - hits.len());
            let words = Arc::clone(&sought);
            for said in store.read(move |conn| message::matching(conn, id, (from, last), &words, most)).await? {
                let message = Some((said.id, said.role));
                hits.push(Hit { session: id, title: title.clone(), message, call: said.call, excerpt: said.excerpt, at: said.at });
            }
            last = from;
        }
        if hits.len() > limit || last > 0 {
            hits.truncate(limit);
            return Ok(Found { hits, more: true });
        }
    }
    Ok(Found { hits, more: false })
}

/// The text around a hit, without the marks of its markdown.
pub(crate) fn excerpt(whole: &str, (from, to): (usize, usize)) -> String {
    let begin = whole.ceil_char_boundary(from.saturating_sub(BEFORE));
    let end = whole.floor_char_boundary((to + AFTER).min(whole.len())).max(to);
    let line = whole[begin..end].lines().map(plain).collect::<Vec<_>>().join(" ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (if begin > 0 { "…" } else { "" }, if end < whole.len() { "…" } else { "" });
    format!("{before}{}{after}", text::visible(&line))
}

/// A line of markdown as it reads: what opens it, marks of code and of stress, and the addresses of links are left out.
fn plain(line: &str) -> String {
    let words = line.trim_start();
    if words.starts_with("```") || words.starts_with("~~~") {
        return String::new();
    }
    let words = ["> ", "- ", "* ", "+ "].iter().fold(words, |words, mark| words.strip_prefix(mark).unwrap_or(words));
    let heading = words.trim_start_matches('#');
    let words = if heading.len() < words.len() && heading.starts_with(' ') { heading.trim_start() } else { words };
    without_links(&words.replace('`', "").replace("**", ""))
}

fn without_links(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("](") {
        let (Some(open), Some(close)) = (before.rfind('['), after.find(')')) else { break };
        plain.push_str(before[..open].trim_end_matches('!'));
        plain.push_str(&before[open + 1..]);
        rest = &after[close + 1..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_a_line_around_the_hit() {
        assert_eq!(excerpt("a needle\n  here", (2, 8)), "a needle here");
        assert_eq!(
            excerpt("# Title\n- `sleep 1` **ended** with [exit](https://e.example) code 0", (11, 16)),
            "Title sleep 1 ended with exit code 0"
        );
        assert_eq!(excerpt("a[0](1 needle", (7, 13)), "a[0](1 needle");
        let long = format!("{}needle{}", "ä".repeat(100), "😀".repeat(100));
        assert_eq!(excerpt(&long, (200, 206)), format!("…{}needle{}…", "ä".repeat(30), "😀".repeat(35)));
    }
}
