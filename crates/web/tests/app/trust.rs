//! The work directory's own settings: what the page is told, and how consent is refused.

use std::sync::Arc;

use serde_json::json;
use web::{ProjectFile, Trust, TrustLine, TrustRefusal, TrustState};

use crate::rig::{Options, Rig};

const HASH: &str = "the-hash";

/// A work directory without settings of its own.
pub(crate) fn no_file() -> Trust {
    file(ProjectFile {
        path: "work/voxpilot.toml".to_owned(),
        state: TrustState::None,
        hash: None,
        lines: Vec::new(),
        scripts: Vec::new(),
        applied: true,
        problem: None,
    })
}

fn file(file: ProjectFile) -> Trust {
    Trust {
        look: Arc::new(move || Ok(file.clone())),
        consent: Arc::new(|hash| match hash {
            HASH => Ok(()),
            "unusable" => Err(TrustRefusal::Unusable("`model` in /srv/people/ada/voxpilot.toml is empty".to_owned())),
            "failed" => Err(TrustRefusal::Failed("the disk is on fire".to_owned())),
            _ => Err(TrustRefusal::Changed),
        }),
        revoke: Arc::new(|| Ok(())),
    }
}

#[tokio::test]
async fn what_needs_consent_is_told_line_by_line() {
    let line = TrustLine { line: 3, text: "bind = '0.0.0.0:1'".to_owned(), key: "bind".to_owned(), why: "listens".to_owned() };
    let waiting = ProjectFile {
        path: "work/voxpilot.toml".to_owned(),
        state: TrustState::Waiting,
        hash: Some(HASH.to_owned()),
        lines: vec![line],
        scripts: Vec::new(),
        applied: true,
        problem: None,
    };
    let rig = Rig::start(Options { trust: file(waiting), ..Options::default() }).await;
    let answer = rig.get("/api/trust").await;
    let line = json!({ "line": 3, "text": "bind = '0.0.0.0:1'", "key": "bind", "why": "listens" });
    let told = json!({ "path": "work/voxpilot.toml", "state": "waiting", "hash": HASH, "lines": [line], "scripts": [], "applied": true });
    assert_eq!((answer.status, answer.json()), (200, told));
}

#[tokio::test]
async fn consent_is_to_what_was_seen() {
    let rig = Rig::replies([]).await;
    assert_eq!(rig.get("/api/trust").await.json()["state"], "none");
    assert_eq!(rig.post("/api/trust", json!({ "hash": HASH })).await.status, 202);
    rig.post("/api/trust", json!({ "hash": "another" })).await.refuses(409, "conflict");
    rig.post("/api/trust", json!({ "hash": "unusable" })).await.refuses(422, "invalid");
    rig.post("/api/trust", json!({ "hash": "failed" })).await.refuses(500, "internal");
    rig.post("/api/trust", json!({})).await.refuses(422, "invalid");
    assert_eq!(rig.delete("/api/trust").await.status, 202);
}

#[tokio::test]
async fn a_refusal_names_no_place_on_the_server() {
    let rig = Rig::replies([]).await;
    let answer = rig.post("/api/trust", json!({ "hash": "unusable" })).await;
    assert!(answer.text.contains("voxpilot.toml") && !answer.text.contains("/srv"), "{}", answer.text);
}
