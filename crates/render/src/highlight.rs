//! Code to HTML with one flat class a token. A grammar's dozens of nested scopes are folded into the few kinds that have a
//! colour, which keeps the page small.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::{escape, language};

/// Code beyond these is shown without colours.
const CODE_BYTES: usize = 100 * 1024;
const LINE_CHARS: usize = 2000;

/// Grammars are regular expressions that backtrack; some input makes them crawl.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Which scopes have a class, the more specific ones first. An empty class ends the search: what is inside an interpolation is
/// no string.
const CLASSES: [(&str, &str); 44] = [
    ("comment", "hl-comment"),
    ("constant.character.escape", "hl-escape"),
    ("constant.other.placeholder", "hl-escape"),
    ("constant.numeric", "hl-number"),
    ("constant", "hl-constant"),
    ("entity.name.function", "hl-function"),
    ("entity.name.macro", "hl-function"),
    ("entity.name.tag", "hl-tag"),
    ("entity.name.section", "hl-heading"),
    ("entity.name.label", "hl-constant"),
    ("entity.name.namespace", ""),
    ("entity.name", "hl-type"),
    ("entity.other.attribute-name", "hl-attribute"),
    ("entity.other.inherited-class", "hl-type"),
    ("invalid", "hl-invalid"),
    ("keyword.operator.word", "hl-keyword"),
    ("keyword.operator.logical.python", "hl-keyword"),
    ("keyword.operator", "hl-operator"),
    ("keyword", "hl-keyword"),
    ("markup.inserted", "hl-inserted"),
    ("markup.deleted", "hl-deleted"),
    ("markup.changed", "hl-changed"),
    ("markup.heading", "hl-heading"),
    ("markup.bold", "hl-bold"),
    ("markup.italic", "hl-italic"),
    ("markup.underline.link", "hl-link"),
    ("markup.raw", "hl-string"),
    ("meta.annotation", "hl-meta"),
    ("meta.preprocessor", "hl-meta"),
    ("meta.diff", "hl-meta"),
    ("meta.interpolation", ""),
    ("meta.template.expression", ""),
    ("storage", "hl-keyword"),
    ("string", "hl-string"),
    ("support.function", "hl-function"),
    ("support.macro", "hl-function"),
    ("support.constant", "hl-constant"),
    ("support.type.property-name", "hl-attribute"),
    ("support", "hl-type"),
    ("variable.function", "hl-function"),
    ("variable.language", "hl-keyword"),
    ("variable.parameter", "hl-variable"),
    ("variable.other.constant", "hl-constant"),
    ("source", ""),
];

/// Time that highlighting may still take; shared by all the code of one text.
pub(crate) struct Budget {
    left: Duration,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: TIME_LIMIT }
    }
}

/// Code as `<pre><code>`, coloured if the language (`rust`) or path (`src/main.rs`) is known.
pub fn code(text: &str, language_or_path: &str) -> String {
    block(text, language_or_path, &mut Budget::new())
}

pub(crate) fn block(text: &str, language_or_path: &str, budget: &mut Budget) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    let label = language::label(language_or_path);
    match label.as_str() {
        "" => html.push_str("<pre class=\"code\"><code>"),
        label => html.push_str(&format!("<pre class=\"code\"><code class=\"language-{label}\">")),
    }
    let mut done = 0;
    if is_within_bounds(text) && !budget.left.is_zero() {
        let colour = |set: &SyntaxSet, syntax: &SyntaxReference| coloured(text, set, syntax, budget, &mut html);
        done = language::with(language_or_path, colour).unwrap_or(0);
    }
    escape::code(&text[done..], &mut html);
    html.push_str("</code></pre>");
    html
}

fn is_within_bounds(text: &str) -> bool {
    text.len() <= CODE_BYTES && text.lines().all(|line| line.len() <= LINE_CHARS || line.chars().count() <= LINE_CHARS)
}

/// Writes lines until the text ends, the time is up or the grammar gives up; returns how many bytes of the text that were.
fn coloured(text: &str, set: &SyntaxSet, syntax: &SyntaxReference, budget: &mut Budget, html: &mut String) -> usize {
    let started = Instant::now();
    let mut state = ParseState::new(syntax);
    let mut scopes = ScopeStack::new();
    let mut done = 0;
    for line in text.split_inclusive('\n') {
        if started.elapsed() >= budget.left || !coloured_line(line, set, &mut state, &mut scopes, html) {
            break;
        }
        done += line.len();
    }
    budget.left = budget.left.saturating_sub(started.elapsed());
    done
}

/// False, with nothing written, if the grammar gave up on the line.
fn coloured_line(line: &str, set: &SyntaxSet, state: &mut ParseState, scopes: &mut ScopeStack, html: &mut String) -> bool {
    // The grammars were made for lines that end in a newline, which the last line of a text may lack.
    let whole = if line.ends_with('\n') { line.to_owned() } else { format!("{line}\n") };
    let Ok(changes) = state.parse_line(&whole, set) else {
        return false;
    };
    let body = line.trim_end_matches('\n');
    let mut spans = Spans { html, class: "" };
    let mut from = 0;
    for (at, change) in changes {
        let to = at.min(body.len());
        spans.push(&body[from..to], scopes);
        from = to;
        if scopes.apply(&change).is_err() {
            spans.push(&body[from..], scopes);
            from = body.len();
            break;
        }
    }
    spans.push(&body[from..], scopes);
    spans.close();
    if line.ends_with('\n') {
        html.push('\n');
    }
    true
}

/// Joins neighbouring tokens of one class into one span.
struct Spans<'a> {
    html: &'a mut String,
    class: &'static str,
}

impl Spans<'_> {
    fn push(&mut self, token: &str, scopes: &ScopeStack) {
        if token.is_empty() {
            return;
        }
        let class = if token.trim().is_empty() { self.class } else { class_of(scopes) };
        if class != self.class {
            self.close();
            if !class.is_empty() {
                self.html.push_str(&format!("<span class=\"{class}\">"));
            }
            self.class = class;
        }
        escape::code(token, self.html);
    }

    fn close(&mut self) {
        if !self.class.is_empty() {
            self.html.push_str("</span>");
        }
        self.class = "";
    }
}

fn class_of(scopes: &ScopeStack) -> &'static str {
    static TABLE: OnceLock<Vec<(Scope, &'static str)>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let scope = |(name, class): &(&str, &'static str)| Some((Scope::new(name).ok()?, *class));
        CLASSES.iter().filter_map(scope).collect()
    });
    let class = |scope: &Scope| table.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, class)| *class);
    scopes.scopes.iter().rev().find_map(class).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_get_the_class_of_their_kind() {
        for (source, language, expected) in [
            (
                "fn main() { let x = \"a<b\"; } // done\n",
                "rust",
                "<pre class=\"code\"><code class=\"language-rust\"><span class=\"hl-keyword\">fn </span><span class=\"hl-function\">main</span>() { <span class=\"hl-keyword\">let</span> x <span class=\"hl-operator\">= </span><span class=\"hl-string\">\"a&lt;b\"</span>; } <span class=\"hl-comment\">// done</span>\n</code></pre>",
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
                "<pre class=\"code\"><code class=\"language-text\">a<span class=\"hl-invalid\">U+202E</span>b</code></pre>",
            ),
        ] {
            assert_eq!(code(source, language), expected);
        }
    }

    #[test]
    fn too_much_code_is_only_escaped() {
        let long_line = format!("let x = \"{}\";\n", "<".repeat(LINE_CHARS));
        let much = "let x = 1;\n".repeat(CODE_BYTES / 10);
        for source in [&long_line, &much] {
            let html = code(source, "rust");
            assert!(!html.contains("<span"));
            assert_eq!(html.matches("&lt;").count(), source.matches('<').count());
        }
    }

    #[test]
    fn code_that_ran_out_of_time_is_escaped_from_there_on() {
        let html = block("let a = 1;\nlet <b> = 2;\n", "rust", &mut Budget { left: Duration::ZERO });
        assert_eq!(html, "<pre class=\"code\"><code class=\"language-rust\">let a = 1;\nlet &lt;b&gt; = 2;\n</code></pre>");
    }

    #[test]
    fn every_class_has_a_colour() {
        for (_, class) in CLASSES.iter().filter(|(_, class)| !class.is_empty()) {
            assert!(crate::HIGHLIGHT_CSS.contains(&format!(".{class}")), "{class}");
        }
    }
}
