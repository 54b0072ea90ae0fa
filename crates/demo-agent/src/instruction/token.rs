//! Words, quoted texts and breaks. Pure; knows no instruction.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Word,
    Quote,
    /// A quote between triple backticks.
    Fence,
    /// A line end or a semicolon.
    Break,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: Kind,
    /// A word as it stands, a quote without its marks.
    pub text: String,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub(super) fn is_quote(&self) -> bool {
        matches!(self.kind, Kind::Quote | Kind::Fence)
    }

    /// A word in lower case without punctuation around it; `None` for everything else.
    pub(super) fn lower(&self) -> Option<String> {
        (self.kind == Kind::Word).then(|| {
            let bare = self.text.trim_matches(|c: char| ",.:!?()".contains(c));
            bare.to_lowercase()
        })
    }

    /// The text as a file name: a word loses the punctuation that ends a clause.
    pub(super) fn name(&self) -> String {
        match self.kind {
            Kind::Word => self.text.trim_end_matches(|c: char| ",.:!?".contains(c)).to_owned(),
            _ => self.text.clone(),
        }
    }

    pub(super) fn ends_sentence(&self) -> bool {
        // The punctuation after a quote is not kept, and a quote often ends a sentence.
        self.is_quote() || (self.kind == Kind::Word && self.text.ends_with(['.', '!']))
    }
}

/// What the tokens were made from, as it was written.
pub(super) fn source<'a>(prompt: &'a str, tokens: &[Token]) -> &'a str {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => prompt[first.start..last.end].trim(),
        _ => "",
    }
}

pub(super) fn split(prompt: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(next) = prompt[at..].chars().next() {
        if next == '\n' || next == ';' {
            tokens.push(Token { kind: Kind::Break, text: String::new(), start: at, end: at + 1 });
            at += 1;
        } else if next.is_whitespace() {
            at += next.len_utf8();
        } else if let Some((token, after)) = fence(prompt, at).or_else(|| quote(prompt, at)) {
            tokens.push(token);
            at = after;
        } else {
            let token = word(prompt, at);
            at = token.end;
            tokens.push(token);
        }
    }
    tokens
}

fn word(prompt: &str, start: usize) -> Token {
    let rest = &prompt[start..];
    let length = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
    Token { kind: Kind::Word, text: rest[..length].to_owned(), start, end: start + length }
}

fn fence(prompt: &str, start: usize) -> Option<(Token, usize)> {
    let inner = prompt[start..].strip_prefix("```")?;
    let length = inner.find("```")?;
    let body = &inner[..length];
    // The rest of the first line names the language.
    let text = body.split_once('\n').map_or(body, |(_, text)| text);
    let end = start + 3 + length + 3;
    let token = Token { kind: Kind::Fence, text: text.to_owned(), start, end };
    Some((token, end))
}

/// A quoted text and where to go on, which is behind the punctuation that follows it.
fn quote(prompt: &str, start: usize) -> Option<(Token, usize)> {
    let mut chars = prompt[start..].char_indices();
    let (_, open) = chars.next()?;
    let close = match open {
        '"' | '`' | '\'' => open,
        '“' => '”',
        '‘' => '’',
        _ => return None,
    };
    let mut text = String::new();
    while let Some((at, c)) = chars.next() {
        let behind = start + at + c.len_utf8();
        if c == '\\' && open == '"' {
            match chars.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                other @ ('"' | '\\') => text.push(other),
                other => text.extend(['\\', other]),
            }
        } else if c == close && !is_apostrophe(prompt, c, behind) {
            let rest = &prompt[behind..];
            let after = rest.trim_start_matches([',', '.', ':', '!', '?']);
            let token = Token { kind: Kind::Quote, text, start, end: behind };
            return Some((token, behind + (rest.len() - after.len())));
        } else {
            text.push(c);
        }
    }
    None
}

/// "don't" does not end a quote.
fn is_apostrophe(prompt: &str, mark: char, behind: usize) -> bool {
    matches!(mark, '\'' | '’') && prompt[behind..].chars().next().is_some_and(char::is_alphanumeric)
}
