//! The audit log: who did what, from which device. What is done is named in the table of calls; a handler may add a detail.

use std::net::IpAddr;

use domain::ids::{DeviceId, SessionId};
use domain::text;
use jiff::Timestamp;
use store::{AuditRow, ServerRow, Store};

/// In characters.
const DETAIL_MAX: usize = 200;

/// What a handler says about what it did, for the audit log. Goes along with the response, and no further.
#[derive(Clone)]
pub(crate) struct Detail(pub(crate) String);

/// Said by a handler that did nothing that is to be told.
#[derive(Clone)]
pub(crate) struct Untold;

/// Who did it.
pub(crate) struct Who {
    pub(crate) device_id: Option<DeviceId>,
    pub(crate) name: String,
    pub(crate) address: IpAddr,
}

/// What was done is done, so a log that cannot be written is only told of.
pub(crate) async fn write(store: &Store, who: Who, action: &str, detail: Option<&str>) {
    write_of(store, who, action, None, detail).await;
}

/// Likewise, where the detail holds words of a session, which go with it.
pub(crate) async fn write_of(store: &Store, who: Who, action: &str, session: Option<SessionId>, detail: Option<&str>) {
    let entry = AuditRow {
        id: 0,
        at: Timestamp::now(),
        device_id: who.device_id,
        device: who.name,
        address: Some(who.address.to_canonical().to_string()),
        action: action.to_owned(),
        detail: detail.map(|text| shown(&short(text))).filter(|text| !text.is_empty()),
        session,
    };
    if let Err(error) = store.save(vec![ServerRow::Audit(entry)]).await {
        tracing::warn!(%error, action, "the audit log could not be written");
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(DETAIL_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The text in one line, with its hidden and reordering characters made visible; those that join emoji too.
pub(crate) fn shown(text: &str) -> String {
    let written = |letter: char| match letter {
        '\u{200d}' => text::written_out(letter),
        letter if letter.is_control() => text::written_out(letter),
        letter => letter.to_string(),
    };
    text::visible(text).chars().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_shown_and_what_is_long_is_cut() {
        assert_eq!(shown("rm\u{202e}\u{1b}[2J -rf\n"), "rm⟨U+202E⟩⟨U+001B⟩[2J -rf⟨U+000A⟩");
        assert_eq!(short(&"ä".repeat(DETAIL_MAX)), "ä".repeat(DETAIL_MAX));
        assert_eq!(short(&"ä".repeat(DETAIL_MAX + 1)).chars().count(), DETAIL_MAX + 1);
    }
}
