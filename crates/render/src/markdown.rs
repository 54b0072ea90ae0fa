//! Markdown as models and agents write it, half of it still to come included.

use std::borrow::Cow;

use domain::text::{Piece, pieces, visible};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html};

use crate::{code, escape, links, sanitize};

/// A text beyond this is shown as it is, and so is one that is full of hidden characters.
const TEXT_BYTES: usize = 1024 * 1024;

/// Deeper nesting is flattened: nobody reads it, and browsers and sanitizers get slow on it.
const MOST_OPEN: usize = 32;

/// Markdown to HTML. Raw HTML is shown as text, images become links, code names its language.
pub fn markdown(text: &str) -> String {
    if text.len() > TEXT_BYTES || escape::is_flooded(text) {
        let mut html = String::from("<pre class=\"plain\">");
        escape::text(text, &mut html);
        html.push_str("</pre>");
        return html;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut shaper = Shaper::new();
    for event in TextMergeStream::new(Parser::new_ext(text, options)) {
        shaper.take(event);
    }
    let mut unsafe_html = String::with_capacity(text.len() * 2);
    html::push_html(&mut unsafe_html, shaper.events.into_iter());
    sanitize::clean(&unsafe_html)
}

/// What to do when an open tag ends.
enum Close<'a> {
    Nothing,
    Tag(TagEnd),
    Html(&'static str),
    Code {
        language: CowStr<'a>,
        source: String,
    },
    /// With what to say in place of an image without a description, if nothing was said since event number `0`.
    Anchor(Option<(usize, CowStr<'a>)>),
}

/// Turns the parser's events into those that are rendered.
struct Shaper<'a> {
    events: Vec<Event<'a>>,
    open: Vec<Close<'a>>,
    is_in_anchor: bool,
    is_in_table_head: bool,
    alignments: Vec<Alignment>,
    column: usize,
}

impl<'a> Shaper<'a> {
    fn new() -> Self {
        Self { events: Vec::new(), open: Vec::new(), is_in_anchor: false, is_in_table_head: false, alignments: Vec::new(), column: 0 }
    }

    fn take(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => {
                let close = self.start(tag);
                self.open.push(close);
            }
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(text),
            Event::Html(html) | Event::InlineHtml(html) => self.seen(html),
            Event::Code(code) => {
                let mut html = String::from("<code>");
                escape::text(&code, &mut html);
                html.push_str("</code>");
                self.events.push(Event::InlineHtml(CowStr::from(html)));
            }
            Event::TaskListMarker(true) => self.html("<span class=\"task-done\">\u{2611}</span> "),
            Event::TaskListMarker(false) => self.html("<span class=\"task-open\">\u{2610}</span> "),
            other => self.events.push(other),
        }
    }

    fn start(&mut self, tag: Tag<'a>) -> Close<'a> {
        match tag {
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => first_word(info),
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                Close::Code { language, source: String::new() }
            }
            _ if self.open.len() >= MOST_OPEN => Close::Nothing,
            Tag::HtmlBlock => self.pass(Tag::Paragraph),
            Tag::Link { link_type, dest_url, title, .. } => self.anchor(link_type, dest_url, title, false),
            Tag::Image { dest_url, title, .. } => self.anchor(LinkType::Inline, dest_url, title, true),
            Tag::Table(alignments) => {
                self.alignments = alignments;
                self.wrap("<div class=\"table-wrap\"><table>", "</table></div>\n")
            }
            Tag::TableHead => {
                self.column = 0;
                self.is_in_table_head = true;
                self.wrap("<thead><tr>", "</tr></thead>\n")
            }
            Tag::TableRow => {
                self.column = 0;
                self.is_in_table_head = false;
                self.wrap("<tr>", "</tr>\n")
            }
            Tag::TableCell => self.cell(),
            other => self.pass(other),
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Close::Tag(end)) => self.events.push(Event::End(end)),
            Some(Close::Html(html)) => self.html(html),
            Some(Close::Code { language, source }) => {
                let mut html = String::with_capacity(source.len() * 2);
                code::block(&source, &language, &mut html);
                html.push('\n');
                self.events.push(Event::Html(CowStr::from(html)));
            }
            Some(Close::Anchor(image)) => {
                if let Some((since, address)) = image
                    && self.events.len() == since
                {
                    self.seen(address);
                }
                self.is_in_anchor = false;
                self.events.push(Event::End(TagEnd::Link));
            }
            Some(Close::Nothing) | None => {}
        }
    }

    fn text(&mut self, text: CowStr<'a>) {
        if let Some(Close::Code { source, .. }) = self.open.last_mut() {
            source.push_str(&text);
            return;
        }
        if self.is_in_anchor || !text.contains("http") {
            return self.seen(text);
        }
        for (is_address, part) in links::bare(&text) {
            let part = CowStr::from(part.to_owned());
            if !is_address {
                self.seen(part);
                continue;
            }
            self.events.push(Event::Start(link(LinkType::Autolink, part.clone(), CowStr::Borrowed(""))));
            self.events.push(Event::Text(part));
            self.events.push(Event::End(TagEnd::Link));
        }
    }

    /// Text, with what would not be seen of it made visible.
    fn seen(&mut self, text: CowStr<'a>) {
        if matches!(visible(&text), Cow::Borrowed(_)) {
            return self.events.push(Event::Text(text));
        }
        for piece in pieces(&text) {
            self.events.push(match piece {
                Piece::Plain(plain) => Event::Text(CowStr::from(plain.to_owned())),
                Piece::Hidden(character) => Event::InlineHtml(CowStr::from(escape::hidden(character))),
            });
        }
    }

    /// A link in a link is not HTML, so only the outer one counts.
    fn anchor(&mut self, kind: LinkType, address: CowStr<'a>, title: CowStr<'a>, is_image: bool) -> Close<'a> {
        let is_allowed = matches!(kind, LinkType::Email) || links::is_allowed(&address);
        if self.is_in_anchor || !is_allowed {
            return Close::Nothing;
        }
        self.is_in_anchor = true;
        let title = CowStr::from(visible(&title).into_owned());
        self.events.push(Event::Start(link(kind, address.clone(), title)));
        Close::Anchor(is_image.then_some((self.events.len(), address)))
    }

    fn cell(&mut self) -> Close<'a> {
        let alignment = self.alignments.get(self.column).copied().unwrap_or(Alignment::None);
        self.column += 1;
        let (head, end) = if self.is_in_table_head { ("th", "</th>") } else { ("td", "</td>") };
        let class = match alignment {
            Alignment::None => "",
            Alignment::Left => " class=\"align-left\"",
            Alignment::Center => " class=\"align-center\"",
            Alignment::Right => " class=\"align-right\"",
        };
        self.events.push(Event::InlineHtml(CowStr::from(format!("<{head}{class}>"))));
        Close::Html(end)
    }

    fn wrap(&mut self, start: &'static str, end: &'static str) -> Close<'a> {
        self.html(start);
        Close::Html(end)
    }

    fn pass(&mut self, tag: Tag<'a>) -> Close<'a> {
        let end = tag.to_end();
        self.events.push(Event::Start(tag));
        Close::Tag(end)
    }

    fn html(&mut self, html: &'static str) {
        self.events.push(Event::InlineHtml(CowStr::Borrowed(html)));
    }
}

fn link<'a>(link_type: LinkType, dest_url: CowStr<'a>, title: CowStr<'a>) -> Tag<'a> {
    Tag::Link { link_type, dest_url, title, id: CowStr::Borrowed("") }
}

/// Of `rust,ignore title="x"` the language.
fn first_word(info: CowStr<'_>) -> CowStr<'_> {
    let end = info.find(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':'));
    match end {
        Some(end) => CowStr::from(info[..end].to_owned()),
        None => info,
    }
}

#[cfg(test)]
mod tests;
