//! The last wall: an allowlist of tags, attributes, classes and schemes, applied to everything that came from markdown.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use ammonia::{Builder, UrlRelative};

use crate::code;

const TAGS: [&str; 31] = [
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
    "s",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "tt",
    "ul",
];

const CLASSES: [&str; 9] =
    ["align-center", "align-left", "align-right", "code", "hidden-char", "plain", "table-wrap", "task-done", "task-open"];

const LANGUAGE: &str = "language-";

pub(crate) fn clean(html: &str) -> String {
    static BUILDER: OnceLock<Builder<'static>> = OnceLock::new();
    BUILDER.get_or_init(builder).clean(html).to_string()
}

fn builder() -> Builder<'static> {
    let mut attributes: HashMap<&str, HashSet<&str>> =
        ["code", "div", "pre", "span", "td", "th"].into_iter().map(|tag| (tag, HashSet::from(["class"]))).collect();
    attributes.insert("a", HashSet::from(["href", "title"]));
    attributes.insert("span", HashSet::from(["class", "title"]));
    attributes.insert("ol", HashSet::from(["start"]));
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(TAGS))
        .tag_attributes(attributes)
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(|_, attribute, value| if attribute == "class" { classes(value) } else { Some(value.into()) });
    builder
}

fn classes(value: &str) -> Option<Cow<'_, str>> {
    if value.split_whitespace().all(is_allowed) {
        return Some(value.into());
    }
    let kept: Vec<_> = value.split_whitespace().filter(|class| is_allowed(class)).collect();
    (!kept.is_empty()).then(|| kept.join(" ").into())
}

fn is_allowed(class: &str) -> bool {
    CLASSES.contains(&class) || class.strip_prefix(LANGUAGE).is_some_and(|rest| rest.chars().all(code::is_label_char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_on_the_list_passes() {
        for (html, expected) in [
            ("<script>alert(1)</script>x", "x"),
            ("<p onclick=\"x()\" style=\"color:red\" id=\"a\">x</p>", "<p>x</p>"),
            ("<code class=\"language-rust evil\">x</code>", "<code class=\"language-rust\">x</code>"),
            ("<span class=\"hl-keyword\">x</span>", "<span>x</span>"),
            ("<span class=\"evil\">x</span>", "<span>x</span>"),
            ("<pre class=\"code\">x</pre>", "<pre class=\"code\">x</pre>"),
            ("<iframe src=\"http://x\"></iframe><img src=x onerror=y>", ""),
            ("<a href=\"javascript:x\" title=\"t\">x</a>", "<a title=\"t\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">x</a>"),
            (
                "<a href=\"http://x/\" target=\"_top\" rel=\"opener\">x</a>",
                "<a href=\"http://x/\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">x</a>",
            ),
        ] {
            assert_eq!(clean(html), expected, "{html}");
        }
    }
}
