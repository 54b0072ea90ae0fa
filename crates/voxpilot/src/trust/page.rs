//! Consent in the page: the file is read anew each time, and the server takes itself up anew with what was decided.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use web::{ProjectFile, Trust, TrustLine, TrustRefusal, TrustScript, TrustState};

use super::{consent, data_dir, usable};
use crate::config::{Consents, Content, FILE_NAME, Review, Script, Sources, visible};

/// `running` is what the server was started with; `restart` is told when it should be started again.
pub fn for_page(running: &Sources, restart: CancellationToken) -> Trust {
    let flags = running.flags.clone();
    let started_with = identity(running.review().as_ref());
    let look = move || {
        let sources = gather(&flags)?;
        let review = sources.review();
        let applied = identity(review.as_ref()) == started_with;
        Ok(shown(&sources, review, applied))
    };
    let (flags, agreed) = (running.flags.clone(), restart.clone());
    let consent = move |hash: &str| {
        agree(&gather(&flags)?, hash)?;
        agreed.cancel();
        Ok(())
    };
    let flags = running.flags.clone();
    let revoke = move || {
        take_back(&gather(&flags)?)?;
        restart.cancel();
        Ok(())
    };
    Trust { look: Arc::new(look), consent: Arc::new(consent), revoke: Arc::new(revoke) }
}

/// What has to be the same for a server to need no new start.
fn identity(review: Option<&Review>) -> Option<(String, bool)> {
    review.map(|review| (review.hash.clone(), review.trusted))
}

fn agree(sources: &Sources, hash: &str) -> Result<(), TrustRefusal> {
    let review = sources.review().filter(|review| review.hash == hash).ok_or(TrustRefusal::Changed)?;
    if let Some(problem) = review.problem {
        return Err(TrustRefusal::Unusable(visible(&problem)));
    }
    usable(sources).map_err(TrustRefusal::Unusable)?;
    consent(sources).map_err(failed)
}

fn take_back(sources: &Sources) -> Result<(), TrustRefusal> {
    let path = sources.own_work_dir().canonicalize().map_err(failed)?.join(FILE_NAME);
    Consents::remove(&data_dir(sources).map_err(failed)?, &path).map_err(failed)
}

fn gather(flags: &BTreeMap<String, String>) -> Result<Sources, TrustRefusal> {
    Sources::gather(flags.clone()).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> TrustRefusal {
    TrustRefusal::Failed(error.to_string())
}

fn shown(sources: &Sources, review: Option<Review>, applied: bool) -> ProjectFile {
    let state = match &review {
        None => TrustState::None,
        Some(review) if review.lines.is_empty() => TrustState::Harmless,
        Some(review) if review.trusted => TrustState::Trusted,
        Some(_) => TrustState::Waiting,
    };
    let work_dir = sources.own_work_dir();
    let path = Path::new(work_dir.file_name().unwrap_or_default()).join(FILE_NAME);
    let (hash, lines, scripts, problem) =
        review.map(|review| (Some(review.hash), review.lines, review.scripts, review.problem)).unwrap_or_default();
    let lines =
        lines.into_iter().map(|line| TrustLine { line: line.number as u64, text: line.text, key: line.key, why: line.why.to_owned() });
    ProjectFile {
        path: visible(&path.display().to_string()),
        state,
        hash,
        lines: lines.collect(),
        scripts: scripts.into_iter().map(script).collect(),
        applied,
        problem: problem.map(|problem| visible(&problem)),
    }
}

fn script(script: Script) -> TrustScript {
    let (sha256, bytes, text, note) = match script.content {
        Content::File { sha256, bytes, text } => (Some(sha256), Some(bytes), text, None),
        Content::Directory => (None, None, None, Some("A directory. Changes in it aren't noticed.".to_owned())),
        Content::Unchecked(why) => (None, None, None, Some(format!("Not checked: {}", visible(&why)))),
    };
    TrustScript { path: visible(&script.shown), key: visible(&script.key), sha256, bytes, text, note }
}
