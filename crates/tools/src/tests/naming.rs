//! Paths as people name them.

use std::os::unix::fs::symlink;

use super::*;

fn sample() -> TempDir {
    let dir = directory();
    for path in ["src/lib.rs", "src/main.rs", "docs/library.md", "with space.txt", "ignored/lib.rs", "README.md"] {
        write(dir.path(), path, "x\n");
    }
    write(dir.path(), ".gitignore", "ignored/\n");
    dir
}

#[test]
fn mentions_are_paths_that_are_there_and_inside() {
    let dir = sample();
    symlink("/etc/hostname", dir.path().join("out")).unwrap();
    let names = |text: &str| mentioned(dir.path(), text).into_iter().map(|named| named.path).collect::<Vec<_>>();
    assert_eq!(names("look at @src/lib.rs, and (@README.md). Not at me@src/main.rs"), ["src/lib.rs", "README.md"]);
    assert_eq!(names("@\"with space.txt\" and @./src/ and @src/lib.rs @src/lib.rs"), ["with space.txt", "src", "src/lib.rs"]);
    assert_eq!(names("@nobody @/etc/hostname @../x @out @ @\"open"), Vec::<String>::new());
    let whole = &mentioned(dir.path(), "@src/lib.rs")[0];
    assert_eq!((whole.is_dir, whole.size, whole.real.is_absolute()), (false, 2, true));
}

#[test]
fn a_path_that_is_not_there_is_refused_by_name() {
    let dir = sample();
    assert!(find(dir.path(), "nope.rs").unwrap_err().contains("nope.rs"));
    assert!(find(dir.path(), "../secret").unwrap_err().contains("outside the work directory"));
    assert_eq!(find(dir.path(), "src").unwrap().path, "src");
}

#[tokio::test]
async fn a_search_gives_the_best_first_and_leaves_out_what_git_ignores() {
    let dir = sample();
    let found = async |query: &str| search(&project(dir.path()), query, 3).await;
    assert_eq!(found("lib").await, ["src/lib.rs", "docs/library.md"]);
    assert_eq!(found("src/").await, ["src/", "src/lib.rs", "src/main.rs"]);
    assert_eq!(found("READ").await, ["README.md"]);
    assert_eq!(found("srmn").await, ["src/main.rs"]);
    assert_eq!(found("").await.len(), 3);
    assert!(found("nothing like it").await.is_empty());
}
