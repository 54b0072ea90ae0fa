//! Whatever goes in, the output has only tags, attributes and addresses from a short list.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

const TAGS: [&str; 28] = [
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
    "s",
];

/// Text never holds a bare `<`, so every `<` begins a tag. Attributes are always `name="value"`.
fn assert_safe(html: &str) {
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let tag_end = end_of_tag(&rest[at..]);
        let tag = &rest[at + 1..at + tag_end];
        rest = &rest[at + tag_end + 1..];
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(TAGS.contains(&name.trim_start_matches('/')), "tag {tag:?}");
        while !attributes.is_empty() {
            let (attribute, after) = attributes.split_once("=\"").unwrap();
            let (value, after) = after.split_once('"').unwrap();
            assert_attribute(name, attribute, value);
            attributes = after.trim_start();
        }
    }
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn markdown_is_safe(text in hostile()) {
        assert_safe(&render::markdown(&text));
    }

    #[test]
    fn diffs_are_safe_and_complete(text in hostile()) {
        let html = render::diff(&text);
        assert_safe(&html);
        prop_assert_eq!(html.matches("<tr class").count(), text.split_terminator('\n').count());
    }
}
