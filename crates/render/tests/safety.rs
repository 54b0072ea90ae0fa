//! Whatever goes in, the output has only tags, attributes and addresses from a short list.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

const TAGS: [&str; 27] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// Have no end.
const SINGLE: [&str; 2] = ["br", "hr"];

/// Text never holds a bare `<`, so every `<` begins a tag. Attributes are always `name="value"`. What is opened is closed, in its order.
fn assert_safe(html: &str) {
    let mut rest = html;
    let mut open = Vec::new();
    while let Some(at) = rest.find('<') {
        let tag_end = end_of_tag(&rest[at..]);
        let tag = &rest[at + 1..at + tag_end];
        rest = &rest[at + tag_end + 1..];
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(TAGS.contains(&name.strip_prefix('/').unwrap_or(name)), "tag {tag:?}");
        match name.strip_prefix('/') {
            Some(ended) => assert_eq!((open.pop(), attributes), (Some(ended), ""), "{html}"),
            None if SINGLE.contains(&name) => {}
            None => open.push(name),
        }
        while !attributes.is_empty() {
            let (attribute, after) = attributes.split_once("=\"").unwrap();
            let (value, after) = after.split_once('"').unwrap();
            assert_attribute(name, attribute, value);
            attributes = after.trim_start();
        }
    }
    assert!(open.is_empty(), "{open:?} of {html}");
}

fn end_of_tag(tag: &str) -> usize {
    let mut is_quoted = false;
    tag.find(|c| {
        is_quoted ^= c == '"';
        c == '>' && !is_quoted
    })
    .expect("a tag ends")
}

fn assert_attribute(tag: &str, attribute: &str, value: &str) {
    match attribute {
        "href" => {
            let value = value.to_ascii_lowercase();
            assert!(["http:", "https:", "mailto:"].iter().any(|scheme| value.starts_with(scheme)), "address {value:?}");
        }
        "class" => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_+# ".contains(c);
            assert!(value.chars().all(is_plain), "class {value:?}");
        }
        "rel" => assert_eq!(value, "noopener noreferrer nofollow"),
        "target" => assert_eq!(value, "_blank"),
        "title" if tag == "span" => assert!(value.starts_with("U+"), "title {value:?}"),
        "title" => assert_eq!(tag, "a"),
        "start" => assert!(value.bytes().all(|byte| byte.is_ascii_digit()), "start {value:?}"),
        other => panic!("attribute {other:?} of {tag:?}"),
    }
}

/// What means something to markdown, HTML or a browser.
const PIECES: &[&str] = &[
    "<script>",
    "</script>",
    "<img src=x onerror=alert(1)>",
    "<iframe src=\"javascript:x\">",
    "javascript:alert(1)",
    "style=\"x\"",
    " onload=x ",
    "<svg/onload=x>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<math>",
    "<a href='",
    "\"",
    "'",
    "&#106;",
    "&#x3C;",
    "&lt;",
    "\0",
    "\u{202e}",
    "\n",
    "\r\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "```",
    "```html\n",
    "```js\n",
    "```yaml\n",
    "```bash\n",
    "```rust\n",
    "```\"><script>\n",
    "~~~",
    "`",
    "``",
    "**",
    "_",
    "~~",
    "[",
    "](",
    ")",
    "![",
    "](javascript:x)",
    "](http://a.b/\"onmouseover=x)",
    "](https://a.b 'x\" onclick=\"y')",
    "<https://a.b/\"x>",
    "<javascript:x>",
    "https://a.b/\"onclick=x",
    "[a]: javascript:x \"y\"\n",
    "[a]",
    "> ",
    "- ",
    "- [x] ",
    "1. ",
    "# ",
    "|a|b|\n|-|:-:|\n|",
    "|",
    "---\n",
    "</td>",
    "</code></pre>",
    "@@ -1,3 +1,3 @@\n",
    "+",
    "-",
    "diff --git a/<b> b/<b>\n",
    "text",
    "ä😀",
];

/// The pieces in any order.
fn hostile() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof![4 => proptest::sample::select(PIECES).prop_map(str::to_owned), 1 => ".{0,6}"], 0..40)
        .prop_map(|parts| parts.concat())
}

/// Nothing that hides or reorders is left in what a browser gets.
fn assert_visible(html: &str) {
    assert!(matches!(domain::text::visible(html), std::borrow::Cow::Borrowed(_)), "{html:?}");
}

const BIDI: &str = "\u{202e}\u{2066}\u{2069}\u{200f}";

#[test]
fn hostile_markdown_is_shown_for_what_it_is() {
    let table: [(String, &[&str], &[&str]); 14] = [
        ("<script>alert(1)</script>".into(), &["&lt;script&gt;"], &["<script"]),
        ("<img src=x onerror=alert(1)>".into(), &["&lt;img"], &["<img"]),
        ("[x](javascript:alert(1))".into(), &["x"], &["href", "javascript"]),
        ("[x](JaVaScRiPt:alert(1)) [y](data:text/html,<script>)".into(), &["x", "y"], &["href"]),
        ("<javascript:alert(1)>".into(), &[], &["href"]),
        ("[x](//evil.example) [y](/api/logout) [z](file:///etc/passwd)".into(), &["x", "y", "z"], &["href"]),
        ("![tracked](https://evil.example/pixel.png?secret)".into(), &["href=\"https://evil.example", "tracked"], &["<img", "src="]),
        ("[a]: javascript:x\n\n[a]".into(), &[], &["href"]),
        ("<svg/onload=x> <math><style>*{}</style>".into(), &[], &["<svg", "<math", "<style"]),
        (format!("safe{BIDI}text"), &["⟨U+202E⟩", "⟨U+2066⟩", "title=\"U+202E RIGHT-TO-LEFT OVERRIDE\""], &["\u{202e}"]),
        (format!("`rm{BIDI} -rf`"), &["<code>rm<span class=\"hidden-char\""], &["\u{202e}"]),
        (format!("```sh\nrm{BIDI} -rf\n```"), &["⟨U+202E⟩"], &["\u{202e}"]),
        (format!("[good{BIDI}](https://a.b 'title{BIDI}')"), &["⟨U+202E⟩", "title⟨U+202E⟩"], &["\u{202e}"]),
        (
            "a&#x202E;b &#8203; zero\u{200b}width \u{1b}[31mred \u{e0041}".into(),
            &["⟨U+202E⟩", "⟨U+200B⟩", "⟨U+001B⟩", "⟨U+E0041⟩"],
            &["\u{1b}"],
        ),
    ];
    for (text, shown, never) in table {
        let html = render::markdown(&text);
        assert_safe(&html);
        assert_visible(&html);
        for part in shown {
            assert!(html.contains(part), "{part} in {html}");
        }
        for part in never {
            assert!(!html.contains(part), "{part} in {html}");
        }
    }
    assert!(render::markdown("👩\u{200d}💻 ❤\u{fe0f}").contains("👩\u{200d}💻 ❤\u{fe0f}"), "an emoji is seen as it is");
}

/// Known ways to get a script into a page past a filter, each as a text, in a link, in a title, in code and in a table.
#[test]
fn no_known_way_around_a_filter_leads_to_a_script() {
    for vector in [
        "<ScRiPt>alert(1)</sCrIpT>",
        "<<script>alert(1)//<</script>",
        "<script/src=//evil.example></script>",
        "<img/src=x/onerror=alert(1)>",
        "<img src=`x` onerror=alert(1)>",
        "<svg><animate onbegin=alert(1) attributeName=x>",
        "<svg><script>alert&#40;1)</script></svg>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        "<template><script>alert(1)</script></template>",
        "<iframe srcdoc='<script>alert(1)</script>'>",
        "<object data=javascript:alert(1)>",
        "<base href=javascript:alert(1)//>",
        "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
        "<a href=\"jav&#x09;ascript:alert(1)\">x</a>",
        "<details open ontoggle=alert(1)>",
        "<div style=\"background:url(javascript:alert(1))\">",
        "<!--><img src=x onerror=alert(1)>-->",
        "<![CDATA[><img src=x onerror=alert(1)>]]>",
        "<?php echo '<script>' ?>",
        "</p></div><script>alert(1)</script>",
        "\" onmouseover=\"alert(1)",
        "' onmouseover='alert(1)",
        "javascript:alert(1)",
        "java\tscript:alert(1)",
        "\u{1}javascript:alert(1)",
        "javascript&colon;alert(1)",
        "&#106;avascript:alert(1)",
        "vbscript:msgbox(1)",
        "data:text/html;base64,PHNjcmlwdD4=",
        "https://a.b/\"><script>alert(1)</script>",
        "https://a.b/' onclick='alert(1)",
        "https://a.b/\u{a0}onclick=alert(1)",
        "HTTPS://javascript:alert(1)@a.b",
        "mailto:a@b?subject=\"><script>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&#60;script&#62;",
        "\0<script\0>",
    ] {
        for text in [
            vector.to_owned(),
            format!("[x]({vector})"),
            format!("[x](<{vector}>)"),
            format!("![{vector}]({vector})"),
            format!("[{vector}](https://a.b '{vector}')"),
            format!("[a]: {vector}\n\n[a] ![b][a]"),
            format!("<{vector}>"),
            format!("`{vector}` **{vector}**"),
            format!("```{vector}\n{vector}\n```"),
            format!("|{vector}|\n|-|\n|{vector}|"),
            format!("- [x] {vector}\n\n> # {vector}"),
        ] {
            let html = render::markdown(&text);
            assert_safe(&html);
            assert_visible(&html);
        }
    }
}

/// Each of these would cost a naive renderer its time or its stack.
#[test]
fn hostile_sizes_are_rendered_all_the_same() {
    let columns = 100_000;
    let table = format!("|{}\n|{}\n|{}", "a|".repeat(columns), "-|".repeat(columns), "b|".repeat(columns));
    for text in [
        table,
        "> ".repeat(20_000) + "x",
        "- ".repeat(20_000) + "x",
        "[".repeat(50_000),
        "![".repeat(20_000),
        "*a **b ".repeat(20_000),
        "`".repeat(50_000) + "x",
        "<".repeat(50_000),
        "&".repeat(50_000),
        "\u{202e}".repeat(50_000),
        "[a](b".repeat(20_000),
        "~~~\n".repeat(20_000),
    ] {
        let html = render::markdown(&text);
        assert_safe(&html);
        assert_visible(&html);
    }
}

#[test]
fn hostile_diffs_are_shown_for_what_they_are() {
    let table: [(String, &[&str]); 5] = [
        (format!("--- a/x{BIDI}\n+++ b/x\n@@ -1 +1 @@\n-if admin\n+if admin{BIDI} // check\n"), &["⟨U+202E⟩", "⟨U+2066⟩"]),
        ("@@ -1 +1 @@\n+safe\rrm -rf /\n".into(), &["safe", "⟨U+000D⟩", "rm -rf /"]),
        ("@@ -1 +1 @@\n+a\u{200b}b\u{feff}\u{e0020}\n".into(), &["⟨U+200B⟩", "⟨U+FEFF⟩", "⟨U+E0020⟩"]),
        ("@@ -1 +1 @@\n+</td><script>x</script>\n".into(), &["&lt;/td&gt;&lt;script&gt;"]),
        ("@@ -1 +1 @@\n+\u{1b}[8mhidden\u{1b}[0m\n".into(), &["⟨U+001B⟩</span>[8mhidden"]),
    ];
    for (text, shown) in table {
        let html = render::diff(&text);
        assert_safe(&html);
        assert_visible(&html);
        for part in shown {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn markdown_is_safe(text in hostile()) {
        let html = render::markdown(&text);
        assert_safe(&html);
        assert_visible(&html);
    }

    #[test]
    fn diffs_are_safe_and_complete(text in hostile()) {
        let html = render::diff(&text);
        assert_safe(&html);
        assert_visible(&html);
        prop_assert_eq!(html.matches("<tr class").count(), text.split_terminator('\n').count());
    }
}
