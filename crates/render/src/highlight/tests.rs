use proptest::prelude::*;

use super::*;

fn block_of(text: &str, language: &str) -> String {
    let mut html = String::new();
    block(text, language, &mut html);
    html
}

/// Only what is coloured, as `[class token]`, to be read at a glance.
fn coloured(text: &str, language: &str) -> String {
    let html = block_of(text, language);
    let inside = &html[html.find("<code").unwrap()..html.find("</code>").unwrap()];
    let inside = &inside[inside.find('>').unwrap() + 1..];
    let short = inside.replace("<span class=\"hl-", "[").replace("</span>", "]").replace("\">", " ");
    short.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn tokens_get_the_class_of_their_kind() {
    for (source, language, expected) in [
        (
            "fn main() { let x = \"a<b\"; } // done\n",
            "rust",
            "<pre class=\"code\"><code class=\"language-rust\"><span class=\"hl-keyword\">fn</span> <span class=\"hl-function\">main</span>() { <span class=\"hl-keyword\">let</span> x <span class=\"hl-operator\">=</span> <span class=\"hl-string\">\"a&lt;b\"</span>; } <span class=\"hl-comment\">// done</span>\n</code></pre>",
        ),
        ("plain <b>", "", "<pre class=\"code\"><code>plain &lt;b&gt;</code></pre>"),
        ("x", "no-such", "<pre class=\"code\"><code class=\"language-no-such\">x</code></pre>"),
        (
            "-old\n+new",
            "a/change.diff",
            "<pre class=\"code\"><code class=\"language-diff\"><span class=\"hl-deleted\">-old</span>\n<span class=\"hl-inserted\">+new</span></code></pre>",
        ),
        (
            "a\u{202e}b",
            "text",
            "<pre class=\"code\"><code class=\"language-text\">a<span class=\"hidden-char\" title=\"U+202E RIGHT-TO-LEFT OVERRIDE\">⟨U+202E⟩</span>b</code></pre>",
        ),
    ] {
        assert_eq!(block_of(source, language), expected);
    }
}

#[test]
fn each_language_reads_as_its_people_expect() {
    for (source, language, expected) in [
        (
            "#[derive(Debug)]\nstruct A<'a>(&'a str);",
            "rs",
            "[meta #[derive(Debug)]]\n[keyword struct] [type A][operator <][variable 'a][operator >]([operator &][variable 'a] [keyword str]);",
        ),
        (
            "let c = '\\n'; x!(r#\"a\"b\"#)",
            "rust",
            "[keyword let] c [operator =] [string '][escape \\n][string ']; [function x][operator !]([string r#\"a\"b\"#])",
        ),
        ("x /*", "js", "x [comment /*]"),
        (
            "const a = `b ${c} \\n`; // d",
            "ts",
            "[keyword const] a [operator =] [string `b ][variable ${c}] [escape \\n][string `]; [comment // d]",
        ),
        (
            "@app.get('/')\ndef f(x: int) -> str:\n    return f\"{x}\\n\" # no",
            "py",
            "[meta @app.get]([string '/'])\n[keyword def] [function f](x[operator :] int) [operator ->] str[operator :]\n    [keyword return] [string f\"{x}][escape \\n][string \"] [comment # no]",
        ),
        ("'''a\nb''' + 'c", "python", "[string '''a\nb'''] [operator +] [string 'c]"),
        (
            "for f in *.rs; do echo \"$f ${f%.rs}\" 'a' # it's\ndone",
            "bash",
            "[keyword for] f [keyword in] [operator *].rs; [keyword do] [keyword echo] [string \"][variable $f] [variable ${f%.rs}][string \"] [string 'a'] [comment # it's]\n[keyword done]",
        ),
        (
            "{\"a\": \"b:c\", \"d\" : [1.5e-3, true]}",
            "json",
            "{[attribute \"a\"][operator :] [string \"b:c\"], [attribute \"d\"] [operator :] [[number 1.5e-3], [constant true]]}",
        ),
        (
            "on: [push]\njobs:\n  # it's\n  a-b: don't # c\n  url: http://a.b/#c",
            "yml",
            "[attribute on][operator :] [push]\n[attribute jobs][operator :]\n  [comment # it's]\n  [attribute a-b][operator :] don't [comment # c]\n  [attribute url][operator :] http[operator :]//a.b/#c",
        ),
        ("[a.b]\nc-d = \"e\" # f\n", "Cargo.toml", "[meta [a.b]]\n[attribute c-d] [operator =] [string \"e\"] [comment # f]\n"),
        (
            "<a href=\"b\">c &amp; d</a><!-- e --><script>let x</script>",
            "html",
            "[tag <a] [attribute href]=[string \"b\"][tag >]c [escape &amp;] d[tag </a>][comment <!-- e -->][tag <script>][keyword let] x[tag </script>]",
        ),
        (
            "a:hover { color: #fff; margin: 1px } /* x */",
            "css",
            "a[operator :]hover { [attribute color][operator :] #fff; [attribute margin][operator :] [number 1px] } [comment /* x */]",
        ),
        (
            "SELECT a FROM b WHERE c = 'it''s' -- d",
            "sql",
            "[keyword SELECT] a [keyword FROM] b [keyword WHERE] c [operator =] [string 'it''s'] [comment -- d]",
        ),
        (
            "#include <a.h>\nint main() { return 0x1f; }",
            "c++",
            "[meta #include] [operator <]a.h[operator >]\n[keyword int] [function main]() { [keyword return] [number 0x1f]; }",
        ),
        (
            "# A\n- b `c`\n```\nd\n```\n1. e",
            "md",
            "[heading # A]\n[operator -] b [string `c`]\n[string ```]\n[string d]\n[string ```]\n[operator 1.] e",
        ),
        (
            "diff --git a b\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z",
            "diff",
            "[heading diff --git a b]\n[heading --- a]\n[heading +++ b]\n[meta @@ -1 +1 @@]\n[deleted -x]\n[inserted +y]\n z",
        ),
        ("FROM a AS b\nRUN echo $C", "docker/Dockerfile", "[keyword FROM] a [keyword AS] b\n[keyword RUN] echo [variable $C]"),
        (
            "all: a.o\n\t$(CC) -o $@ $< # x",
            "Makefile",
            "[attribute all][operator :] a.o\n\t$(CC) -o [variable $@] $[operator <] [comment # x]",
        ),
        (
            "<?php echo \"$a\"; $b->c('d');",
            "php",
            "[operator <?]php [keyword echo] [string \"][variable $a][string \"]; [variable $b][operator ->][function c]([string 'd']);",
        ),
    ] {
        assert_eq!(coloured(source, language), expected, "{language}");
    }
}

#[test]
fn the_languages_people_write_are_known_and_each_name_once() {
    for given in
        ["rust", "rs", "src/main.rs", "Python", "tsx", "golang", "console", ".github/workflows/ci.yml", "c++", "C#", "docker/Dockerfile"]
    {
        assert!(language::find(given).is_some(), "{given}");
    }
    for given in ["", "text", "notes.txt", "no-such-language", "<script>"] {
        assert!(language::find(given).is_none(), "{given}");
    }
    let mut names: Vec<_> = language::names().collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn a_label_is_harmless() {
    for (given, expected) in [("Rust", "rust"), ("c++", "c++"), ("src/main.rs", "rs"), ("\"><script>", "script"), ("", "")] {
        assert_eq!(language::label(given), expected);
    }
}

#[test]
fn too_much_code_is_only_escaped() {
    let html = block_of(&"let x = <b>;\n".repeat(CODE_BYTES / 10), "rust");
    assert!(!html.contains("<span"));
    assert_eq!(html.matches("&lt;").count(), CODE_BYTES / 10);
}

/// What would make a scanner look at the same characters again and again: a repetition that never closes.
#[test]
fn a_scanner_ends_whatever_the_code() {
    for piece in [
        "x /*", "/*", "\"", "'", "`", "${", "#[", "r#", "<a ", "<!--", "&a", "\\", "@", "\"a\" ", "a ", "# ", "{", "<script>", "r#\"", "$(",
    ] {
        let source = piece.repeat(CODE_BYTES / piece.len());
        for language in ["rust", "js", "py", "c", "php", "sh", "json", "yaml", "toml", "html", "css", "md", "diff", "make"] {
            assert!(block_of(&source, language).len() > source.len());
        }
    }
}

#[test]
fn every_class_has_a_colour() {
    for class in [
        Class::Attribute,
        Class::Changed,
        Class::Comment,
        Class::Constant,
        Class::Deleted,
        Class::Escape,
        Class::Function,
        Class::Heading,
        Class::Inserted,
        Class::Keyword,
        Class::Meta,
        Class::Number,
        Class::Operator,
        Class::String,
        Class::Tag,
        Class::Type,
        Class::Variable,
    ] {
        assert!(crate::HIGHLIGHT_CSS.contains(&format!(".{} ", class.name())), "{class:?}");
    }
}

const PIECES: [&str; 43] = [
    "\"", "'", "`", "\"\"\"", "'''", "/*", "*/", "//", "#", "#[", "]", "--", "${", "}", "$x", "@a", "\\", "\n", "\r\n", " ", "<a b=", "</",
    "<script>", "<!--", "-->", "&lt;", "&", "<", ">", "fn x(", "r#\"", "\"#", "0x1e-3", "1.", "a: ", "a=", "[s]", "- `", "```", "ä",
    "\u{202e}", "\u{2066}", "\0",
];

proptest! {
    /// Nothing of the code is lost or doubled, in any language.
    #[test]
    fn code_is_shown_whole(
        parts in proptest::collection::vec(prop_oneof![3 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => ".{0,6}"], 0..40),
        language in proptest::sample::select(language::names().collect::<Vec<_>>()),
    ) {
        let text = parts.concat();
        let mut plain = String::new();
        escape::text(&text, &mut plain);
        prop_assert_eq!(without_tags(&block_of(&text, language)), without_tags(&plain));
    }
}

fn without_tags(html: &str) -> String {
    let after_tag = |part: &'_ str| part.split_once('>').map_or(part.to_owned(), |(_, after)| after.to_owned());
    html.split('<').map(after_tag).collect()
}
