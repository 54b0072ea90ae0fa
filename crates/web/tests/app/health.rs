//! `GET /api/health`

use crate::rig::{Rig, answer};

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_without_a_secret() {
    let rig = Rig::replies([]).await;
    let answer = answer(rig.http.get(format!("{}/api/health", rig.base))).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["status"], "ok");
    assert_eq!(answer.json()["version"], env!("CARGO_PKG_VERSION"));
}
