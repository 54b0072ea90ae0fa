//! Which language a name or a file path means, and what its scanner has to know of it.

mod curly;
mod others;

const LABEL_CHARS: usize = 32;

pub(super) struct Language {
    /// The names and file extensions that mean it.
    names: &'static str,
    pub(super) syntax: Syntax,
}

pub(super) enum Syntax {
    Code(Grammar),
    Markup,
    Diff,
    Markdown,
}

pub(super) struct Grammar {
    pub(super) keywords: &'static str,
    pub(super) constants: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// Longer marks first.
    pub(super) quotes: &'static [Quote],
    /// Letters that may stand right before a string, as in `f"…"`.
    pub(super) string_prefixes: &'static str,
    /// What belongs to a word beside letters, digits and `_`.
    pub(super) word_marks: &'static str,
    pub(super) keys: Keys,
    /// A word before `(` is a function.
    pub(super) calls: bool,
    /// Words in capitals are types and constants.
    pub(super) has_types: bool,
    /// `@name` says something about what follows.
    pub(super) has_decorators: bool,
    /// `#name` at the start of a line.
    pub(super) has_preprocessor: bool,
    /// Rust's `#[…]`, and with it `'lifetime`, `r#"…"#` and `macro!`.
    pub(super) has_attributes: bool,
    /// `$name`.
    pub(super) has_variables: bool,
    pub(super) ignores_case: bool,
}

pub(super) struct Quote {
    pub(super) mark: &'static str,
    pub(super) escapes: bool,
    pub(super) spans_lines: bool,
    /// `$name` and `${…}` inside.
    pub(super) interpolates: bool,
}

/// Which words name a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    None,
    /// A string before a colon.
    Quoted,
    /// A word before a colon and a blank.
    Colon,
    /// A word before `=`, under `[headings]`.
    Assigned,
    /// A word before a colon, within braces.
    Braced,
}

const fn quote(mark: &'static str) -> Quote {
    Quote { mark, escapes: true, spans_lines: false, interpolates: false }
}

const fn long(mark: &'static str) -> Quote {
    Quote { mark, escapes: true, spans_lines: true, interpolates: false }
}

const fn raw(mark: &'static str) -> Quote {
    Quote { mark, escapes: false, spans_lines: true, interpolates: false }
}

const fn template(mark: &'static str) -> Quote {
    Quote { mark, escapes: true, spans_lines: true, interpolates: true }
}

const PLAIN_QUOTES: &[Quote] = &[quote("\""), quote("'")];

const NO_WORDS: Grammar = Grammar {
    keywords: "",
    constants: "",
    line_comments: &[],
    block_comment: None,
    quotes: PLAIN_QUOTES,
    string_prefixes: "",
    word_marks: "",
    keys: Keys::None,
    calls: false,
    has_types: false,
    has_decorators: false,
    has_preprocessor: false,
    has_attributes: false,
    has_variables: false,
    ignores_case: false,
};

/// Most languages of the last fifty years.
const C_LIKE: Grammar = Grammar {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    calls: true,
    has_types: true,
    constants: "true false null",
    ..NO_WORDS
};

const HASH_COMMENTS: Grammar = Grammar { line_comments: &["#"], ..NO_WORDS };

/// The language for a name such as `rust`, or a path such as `src/main.rs`.
pub(super) fn find(language_or_path: &str) -> Option<&'static Language> {
    let given = language_or_path.trim();
    let name = given.rsplit(['/', '.']).next().unwrap_or(given);
    let is_named = |language: &&Language| language.names.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(name));
    curly::LANGUAGES.iter().chain(&others::LANGUAGES).find(is_named)
}

/// Every name that a language is known by.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    curly::LANGUAGES.iter().chain(&others::LANGUAGES).flat_map(|language| language.names.split_ascii_whitespace())
}

/// The words and marks of a language that has them.
pub(super) fn grammar(name: &str) -> Option<&'static Grammar> {
    match &find(name)?.syntax {
        Syntax::Code(grammar) => Some(grammar),
        Syntax::Markup | Syntax::Diff | Syntax::Markdown => None,
    }
}

/// A language as it may stand in a class name.
pub(super) fn label(language_or_path: &str) -> String {
    let name = language_or_path.trim().rsplit(['/', '.']).next().unwrap_or_default();
    name.chars().filter(|c| is_label_char(*c)).take(LABEL_CHARS).collect::<String>().to_ascii_lowercase()
}

pub(crate) fn is_label_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '#' | '-' | '_')
}
