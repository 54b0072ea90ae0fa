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

#[tokio::test(flavor = "multi_thread")]
async fn shows_a_file_of_the_work_directory_and_nothing_outside_of_it() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let work = rig.dir.path().join("work");
    std::fs::write(work.join("sub/lib.rs"), "fn main() {}\n").unwrap();
    std::fs::write(work.join("dot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    std::fs::write(work.join("page.html"), "<script>alert(1)</script>").unwrap();
    std::fs::write(rig.dir.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(rig.dir.path().join("secret"), work.join("link")).unwrap();
    let path = |call: &str, path: &str| format!("/api/sessions/{session}/files/{call}?path={path}");

    let seen = rig.get(&path("view", "sub/lib.rs")).await.json();
    assert_eq!(seen, json!({ "path": "sub/lib.rs", "kind": "text", "size": 13, "text": "fn main() {}\n" }));
    assert_eq!(rig.get(&path("view", "dot.png")).await.json()["kind"], "image");
    rig.get(&path("view", "missing.rs")).await.refuses(404, "not_found");
    rig.get(&path("view", "link")).await.refuses(422, "invalid");
    rig.get(&path("view", "../secret")).await.refuses(422, "invalid");
    rig.get(&path("view", "")).await.refuses(400, "invalid");

    let shown = rig.get(&path("picture", "dot.png")).await;
    for (name, value) in [
        ("content-type", "image/png"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox; frame-ancestors 'none'"),
        ("cache-control", "private, no-store"),
    ] {
        assert_eq!(shown.headers[name], value);
    }
    rig.get(&path("picture", "page.html")).await.refuses(422, "invalid");
    rig.get(&path("picture", "link")).await.refuses(422, "invalid");

    let asked = json!({ "paths": ["sub/lib.rs", "sub", "./dot.png", "link", "../secret", "missing.rs"] });
    let viewable = format!("/api/sessions/{session}/files/viewable");
    assert_eq!(rig.post(&viewable, asked).await.json(), json!({ "paths": ["sub/lib.rs", "./dot.png"] }));
    rig.post(&viewable, json!({ "paths": vec!["a"; 201] })).await.refuses(400, "invalid");
}
