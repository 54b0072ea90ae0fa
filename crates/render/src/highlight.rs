//! Code to HTML with one flat class a token.
//!
//! The scanners are our own and know little of a language: its comments, strings, numbers and words. That is what a person
//! needs to read a piece of code, and it takes one pass over the text, whatever the text is. Grammars of regular expressions
//! know more, but there are lines on which they never end.

mod code;
mod language;
mod lines;
mod markup;

use crate::escape;
pub(crate) use language::is_label_char;
use language::{Language, Syntax};

/// Code beyond this is shown without colours: the page would hold more tags than text.
const CODE_BYTES: usize = 100 * 1024;

/// Appends code as `<pre><code>`, coloured if the language (`rust`) or path (`src/main.rs`) is known.
pub(crate) fn block(text: &str, language_or_path: &str, html: &mut String) {
    let label = language::label(language_or_path);
    match label.as_str() {
        "" => html.push_str("<pre class=\"code\"><code>"),
        label => html.push_str(&format!("<pre class=\"code\"><code class=\"language-{label}\">")),
    }
    match language::find(language_or_path) {
        Some(language) if text.len() <= CODE_BYTES => {
            let mut spans = Spans { html, class: Class::Plain, text, at: 0 };
            scan(text, language, &mut spans);
            spans.close();
        }
        _ => escape::text(text, html),
    }
    html.push_str("</code></pre>");
}

/// Every scanner writes the whole text, piece by piece.
fn scan(text: &str, language: &Language, spans: &mut Spans<'_>) {
    match &language.syntax {
        Syntax::Code(grammar) => code::scan(text, grammar, spans),
        Syntax::Markup => markup::scan(text, spans),
        Syntax::Diff => lines::diff(text, spans),
        Syntax::Markdown => lines::markdown(text, spans),
    }
}

/// What a token is; each has a colour in `highlight.css`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Plain,
    Attribute,
    Changed,
    Comment,
    Constant,
    Deleted,
    Escape,
    Function,
    Heading,
    Inserted,
    Keyword,
    Meta,
    Number,
    Operator,
    String,
    Tag,
    Type,
    Variable,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Attribute => "hl-attribute",
            Self::Changed => "hl-changed",
            Self::Comment => "hl-comment",
            Self::Constant => "hl-constant",
            Self::Deleted => "hl-deleted",
            Self::Escape => "hl-escape",
            Self::Function => "hl-function",
            Self::Heading => "hl-heading",
            Self::Inserted => "hl-inserted",
            Self::Keyword => "hl-keyword",
            Self::Meta => "hl-meta",
            Self::Number => "hl-number",
            Self::Operator => "hl-operator",
            Self::String => "hl-string",
            Self::Tag => "hl-tag",
            Self::Type => "hl-type",
            Self::Variable => "hl-variable",
        }
    }
}

/// Joins neighbouring tokens of one class into one span.
struct Spans<'a> {
    html: &'a mut String,
    class: Class,
    /// The whole of what is scanned, and how much of it was pushed.
    text: &'a str,
    at: usize,
}

impl Spans<'_> {
    fn push(&mut self, token: &str, class: Class) {
        if token.is_empty() {
            return;
        }
        let class = if token.trim().is_empty() { Class::Plain } else { class };
        if class != self.class {
            self.close();
            if class != Class::Plain {
                self.html.push_str("<span class=\"");
                self.html.push_str(class.name());
                self.html.push_str("\">");
            }
            self.class = class;
        }
        let from = self.at;
        self.at += token.len();
        escape::part(self.text, from..self.at, self.html);
    }

    fn close(&mut self) {
        if self.class != Class::Plain {
            self.html.push_str("</span>");
        }
        self.class = Class::Plain;
    }
}

#[cfg(test)]
mod tests;
