//! `/api/sessions/{id}/files`

use serde_json::json;

use crate::rig::Rig;

#[tokio::test(flavor = "multi_thread")]
async fn paths_of_the_work_directory_are_found_by_a_part_of_them() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    for (path, text) in [("work/sub/lib.rs", "x"), ("work/.gitignore", "target\n"), ("work/target", "x"), ("data/lib.rs", "x")] {
        std::fs::write(rig.dir.path().join(path), text).unwrap();
    }
    let found = async |query: &str| rig.get(&format!("/api/sessions/{session}/files?query={query}")).await.json()["paths"].clone();
    assert_eq!(found("lib").await, json!(["sub/lib.rs"]));
    assert_eq!(found("").await, json!(["sub/", ".gitignore", "sub/lib.rs"]), "the shortest first where all fit alike");
    assert_eq!(found("target").await, json!([]));
    assert_eq!(found("../data").await, json!([]));
    rig.get(&format!("/api/sessions/{session}/files?query={}", "x".repeat(201))).await.refuses(400, "invalid");
    rig.get("/api/sessions/garbage/files").await.refuses(404, "not_found");
}
