//! A server that renders no code does not pay for the syntaxes. Alone in its process, since it measures it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

fn resident_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn prose_does_not_load_the_syntaxes() {
    let start = resident_kib();
    let html = render::markdown("# Title\n\n*prose*, a [link](https://a.b) and `code`\n\n```text\nplain\n```\n");
    assert!(html.contains("<em>prose</em>"));
    render::diff("@@ -1 +1 @@\n-a\n+b\n");
    let prose = resident_kib() - start;
    render::code("fn main() {}\n", "rust");
    let first = resident_kib() - start;
    for language in ["py", "json", "ts", "go", "c++", "java", "bash", "toml", "yaml", "html", "css", "sql", "md"] {
        render::code("function x() { return 'a' + 1 }\n# <b> if then\n", language);
    }
    let many = resident_kib() - start;
    println!("resident KiB: prose +{prose}, one language +{first}, fourteen languages +{many}");
    assert!(prose < 4 * 1024, "prose alone took {prose} KiB");
    assert!(many < 128 * 1024, "fourteen languages took {many} KiB");
}
