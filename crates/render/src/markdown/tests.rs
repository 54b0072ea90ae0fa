use super::*;

const REL: &str = "target=\"_blank\" rel=\"noopener noreferrer nofollow\"";

#[test]
fn markdown_becomes_html() {
    for (text, expected) in [
        ("**a** _b_ ~~c~~ `d<`", "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d&lt;</code></p>\n"),
        ("# T\n\ntext\nmore", "<h1>T</h1>\n<p>text\nmore</p>\n"),
        ("3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n"),
        (
            "- [x] a\n- [ ] b",
            "<ul>\n<li><span class=\"task-done\">\u{2611}</span> a</li>\n<li><span class=\"task-open\">\u{2610}</span> b</li>\n</ul>\n",
        ),
        (
            "|a|b|\n|:-:|--:|\n|1|<2|",
            "<div class=\"table-wrap\"><table><thead><tr><th class=\"align-center\">a</th><th class=\"align-right\">b</th></tr></thead>\n<tbody><tr><td class=\"align-center\">1</td><td class=\"align-right\">&lt;2</td></tr>\n</tbody></table></div>\n",
        ),
        ("> q\n\n---", "<blockquote>\n<p>q</p>\n</blockquote>\n<hr>\n"),
        ("    indented <x>", "<pre class=\"code\"><code>indented &lt;x&gt;</code></pre>\n"),
        ("text[^1]\n\n[^1]: note", "<p>text^1</p>\n"),
        ("", ""),
    ] {
        assert_eq!(markdown(text), expected, "{text}");
    }
}

#[test]
fn raw_html_is_shown_as_text() {
    for (text, expected) in [
        ("a <b>c</b>", "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("<div>\n<img src=x onerror=y>\n</div>", "<p>&lt;div&gt;\n&lt;img src=x onerror=y&gt;\n&lt;/div&gt;</p>\n"),
        ("<!-- c -->", "<p>&lt;!-- c --&gt;</p>\n"),
        ("&lt;script&gt;", "<p>&lt;script&gt;</p>\n"),
    ] {
        assert_eq!(markdown(text), expected, "{text}");
    }
}

#[test]
fn links_lead_only_to_the_web_and_to_mailboxes() {
    for (text, expected) in [
        ("[x](https://a.b/c \"t\")", format!("<a href=\"https://a.b/c\" title=\"t\" {REL}>x</a>")),
        ("<me@a.b>", format!("<a href=\"mailto:me@a.b\" {REL}>me@a.b</a>")),
        ("see https://a.b/c_d_e.", format!("see <a href=\"https://a.b/c_d_e\" {REL}>https://a.b/c_d_e</a>.")),
        ("[x](javascript:alert(1))", "x".to_owned()),
        ("[x](JaVaScRiPt&#58;alert(1))", "x".to_owned()),
        ("<javascript:alert(1)>", "javascript:alert(1)".to_owned()),
        ("[x](/api/sessions)", "x".to_owned()),
        ("[x](#top)", "x".to_owned()),
        ("[x](data:text/html;base64,AAAA)", "x".to_owned()),
        ("![alt](https://a.b/c.png)", format!("<a href=\"https://a.b/c.png\" {REL}>alt</a>")),
        ("![](https://a.b/c.png)", format!("<a href=\"https://a.b/c.png\" {REL}>https://a.b/c.png</a>")),
        ("![alt](local.png)", "alt".to_owned()),
        ("[![alt](https://a.b/c.png)](https://d.e)", format!("<a href=\"https://d.e\" {REL}>alt</a>")),
    ] {
        assert_eq!(markdown(text), format!("<p>{expected}</p>\n"), "{text}");
    }
}

#[test]
fn code_names_its_language_by_the_first_word_of_the_fence() {
    for info in ["rust", "rust,ignore", "rust title=\"x\"", "rs {1}"] {
        let html = markdown(&format!("```{info}\nlet x = 1;\n```"));
        let language = &info[..2];
        assert!(html.contains(&format!("<code class=\"language-{language}")) && html.contains("let x = 1;"), "{html}");
    }
    let html = markdown("```\"><script>\n</code><script>alert(1)</script>\n```");
    assert!(html.contains("&lt;/code&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
}

#[test]
fn every_prefix_of_a_message_renders() {
    let text = "# Plan\n\n1. **do** `it`\n   ```rust\n   fn main() {}\n   ```\n\n| a | b |\n|---|---|\n| 1 | [x](https://a.b) |\n\n> \u{1f600} done ~~now~~\n";
    for (end, _) in text.char_indices() {
        let html = markdown(&text[..end]);
        assert_eq!(html.matches("<pre").count(), html.matches("</pre>").count(), "{html}");
        assert_eq!(html.matches("<table").count(), html.matches("</table>").count(), "{html}");
    }
    assert_eq!(markdown("```rust\nlet a"), "<pre class=\"code\"><code class=\"language-rust\">let a</code></pre>\n");
    assert_eq!(markdown("```"), "<pre class=\"code\"><code></code></pre>\n");
}

#[test]
fn hostile_shapes_are_rendered() {
    for (name, text) in [
        ("quotes", ">".repeat(200_000)),
        ("lists", "- ".repeat(100_000)),
        ("brackets", "[".repeat(200_000)),
        ("images", "![".repeat(100_000)),
        ("stars", "*a **".repeat(50_000)),
        ("columns", format!("{}\n{}\n{}", "|a".repeat(3000), "|-".repeat(3000), "|\n".repeat(3000))),
        ("ticks", (1..600).map(|n| "`".repeat(n) + " ").collect()),
        ("html", "<a ".repeat(50_000)),
        ("links", "http://".repeat(50_000)),
        ("parentheses", format!("http://a{}", ")".repeat(100_000))),
        ("large", "word ".repeat(300_000)),
    ] {
        println!("{name}");
        assert!(!markdown(&text).is_empty(), "{name}");
    }
}

#[test]
fn what_is_too_deep_is_shown_flat() {
    for depth in [20, 28, 29, 30, 31, 32, 40] {
        let html = markdown(&format!("{}|a|\n{}|-|\n{}|b|", "> ".repeat(depth), "> ".repeat(depth), "> ".repeat(depth)));
        let is_table = depth + OPEN_IN_TABLE <= MOST_OPEN;
        for (tag, expected) in [("<table", is_table), ("<thead", is_table), ("<tbody", is_table), ("<td", is_table), ("</table", is_table)]
        {
            assert_eq!(html.contains(tag), expected, "{tag} at {depth} in {html}");
        }
        assert!(html.contains('a') && html.contains('b'), "{html}");
    }
}
