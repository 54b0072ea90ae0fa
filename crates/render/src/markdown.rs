//! Markdown as models and agents write it, half of it still to come included.

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TextMergeStream};

use crate::html::Html;
use crate::{escape, links};

/// A text beyond this is shown as it is, and so is one that is full of hidden characters.
const TEXT_BYTES: usize = 1024 * 1024;

/// Deeper nesting is flattened: nobody reads it, and browsers get slow on it.
const MOST_OPEN: usize = 32;
/// The table, a row, a cell.
const OPEN_IN_TABLE: usize = 3;

/// Markdown to HTML. Raw HTML is shown as text, images become links, code names its language.
pub fn markdown(text: &str) -> String {
    let mut html = Html::with_capacity(text.len() * 2);
    if text.len() > TEXT_BYTES || escape::is_flooded(text) {
        html.tag("<pre class=\"plain\">");
        html.text(text);
        html.tag("</pre>");
        return html.into_string();
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer { html, open: Vec::new(), is_in_anchor: false, table: None };
    for event in TextMergeStream::new(Parser::new_ext(text, options)) {
        writer.take(event);
    }
    writer.html.into_string()
}

/// What to do when an open tag ends.
enum Close<'a> {
    Nothing,
    Tag(&'static str),
    Code {
        language: CowStr<'a>,
        source: String,
    },
    /// With what to say in place of an image without a description, if nothing was written since it was so long.
    Anchor(Option<(usize, CowStr<'a>)>),
    Table,
}

/// The table that is being written; there is none in a table.
struct Table {
    alignments: Vec<Alignment>,
    column: usize,
    is_in_head: bool,
    has_body: bool,
}

struct Writer<'a> {
    html: Html,
    open: Vec<Close<'a>>,
    is_in_anchor: bool,
    table: Option<Table>,
}

impl<'a> Writer<'a> {
    fn take(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => {
                let close = self.start(tag);
                self.open.push(close);
            }
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text),
            Event::Html(html) | Event::InlineHtml(html) => self.html.text(&html),
            Event::Code(code) => {
                self.html.tag("<code>");
                self.html.text(&code);
                self.html.tag("</code>");
            }
            Event::TaskListMarker(true) => self.html.tag("<span class=\"task-done\">\u{2611}</span> "),
            Event::TaskListMarker(false) => self.html.tag("<span class=\"task-open\">\u{2610}</span> "),
            Event::SoftBreak => self.html.tag("\n"),
            Event::HardBreak => self.html.tag("<br>\n"),
            Event::Rule => self.html.block("<hr>\n"),
            // Not asked for: should they come all the same, they are text.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.html.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'a>) -> Close<'a> {
        match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => Close::Code { language: first_word(info), source: String::new() },
            Tag::CodeBlock(CodeBlockKind::Indented) => Close::Code { language: CowStr::Borrowed(""), source: String::new() },
            _ if self.open.len() >= MOST_OPEN => Close::Nothing,
            Tag::Paragraph | Tag::HtmlBlock => self.block("<p>", "</p>\n"),
            Tag::Heading { level, .. } => {
                let (start, end) = heading(level);
                self.block(start, end)
            }
            Tag::BlockQuote(_) => self.block("<blockquote>\n", "</blockquote>\n"),
            Tag::List(None) => self.block("<ul>\n", "</ul>\n"),
            Tag::List(Some(first)) => {
                self.html.numbered_list(first);
                Close::Tag("</ol>\n")
            }
            Tag::Item => self.block("<li>", "</li>\n"),
            Tag::Emphasis => self.inline("<em>", "</em>"),
            Tag::Strong => self.inline("<strong>", "</strong>"),
            Tag::Strikethrough => self.inline("<del>", "</del>"),
            Tag::Link { link_type: LinkType::Email, dest_url, title, .. } => self.anchor("mailto:", dest_url, &title, false),
            Tag::Link { dest_url, title, .. } if links::is_allowed(&dest_url) => self.anchor("", dest_url, &title, false),
            Tag::Image { dest_url, title, .. } if links::is_allowed(&dest_url) => self.anchor("", dest_url, &title, true),
            Tag::Table(alignments) if self.open.len() + OPEN_IN_TABLE <= MOST_OPEN => self.table(alignments),
            Tag::TableHead => self.row(true),
            Tag::TableRow => self.row(false),
            Tag::TableCell => self.cell(),
            // What may not be linked to, tables that are too deep, and what was not asked for.
            _ => Close::Nothing,
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Close::Tag(end)) => self.html.tag(end),
            Some(Close::Code { language, source }) => self.html.code_block(&source, &language),
            Some(Close::Anchor(image)) => {
                if let Some((since, address)) = image
                    && self.html.len() == since
                {
                    self.html.text(&address);
                }
                self.is_in_anchor = false;
                self.html.tag("</a>");
            }
            Some(Close::Table) => {
                if self.table.take().is_some_and(|table| table.has_body) {
                    self.html.tag("</tbody>");
                }
                self.html.tag("</table></div>\n");
            }
            Some(Close::Nothing) | None => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Close::Code { source, .. }) = self.open.last_mut() {
            source.push_str(text);
            return;
        }
        if self.is_in_anchor || !text.contains("http") {
            return self.html.text(text);
        }
        for (is_address, part) in links::bare(text) {
            if is_address {
                self.html.link("", part, "");
            }
            self.html.text(part);
            if is_address {
                self.html.tag("</a>");
            }
        }
    }

    /// A link in a link is not HTML, so only the outer one counts.
    fn anchor(&mut self, scheme: &'static str, address: CowStr<'a>, title: &str, is_image: bool) -> Close<'a> {
        if self.is_in_anchor {
            return Close::Nothing;
        }
        self.is_in_anchor = true;
        self.html.link(scheme, &address, title);
        Close::Anchor(is_image.then_some((self.html.len(), address)))
    }

    fn table(&mut self, alignments: Vec<Alignment>) -> Close<'a> {
        self.table = Some(Table { alignments, column: 0, is_in_head: true, has_body: false });
        self.html.tag("<div class=\"table-wrap\"><table>");
        Close::Table
    }

    fn row(&mut self, is_head: bool) -> Close<'a> {
        let Some(table) = &mut self.table else { return Close::Nothing };
        let is_first_of_body = !is_head && !table.has_body;
        table.column = 0;
        table.is_in_head = is_head;
        table.has_body |= is_first_of_body;
        match is_head {
            true => self.inline("<thead><tr>", "</tr></thead>\n"),
            false if is_first_of_body => self.inline("<tbody><tr>", "</tr>\n"),
            false => self.inline("<tr>", "</tr>\n"),
        }
    }

    fn cell(&mut self) -> Close<'a> {
        let Some(table) = &mut self.table else { return Close::Nothing };
        let alignment = table.alignments.get(table.column).copied().unwrap_or(Alignment::None);
        table.column += 1;
        let (none, left, center, right, end) = if table.is_in_head {
            ("<th>", "<th class=\"align-left\">", "<th class=\"align-center\">", "<th class=\"align-right\">", "</th>")
        } else {
            ("<td>", "<td class=\"align-left\">", "<td class=\"align-center\">", "<td class=\"align-right\">", "</td>")
        };
        let start = match alignment {
            Alignment::None => none,
            Alignment::Left => left,
            Alignment::Center => center,
            Alignment::Right => right,
        };
        self.inline(start, end)
    }

    fn block(&mut self, start: &'static str, end: &'static str) -> Close<'a> {
        self.html.block(start);
        Close::Tag(end)
    }

    fn inline(&mut self, start: &'static str, end: &'static str) -> Close<'a> {
        self.html.tag(start);
        Close::Tag(end)
    }
}

fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 => ("<h1>", "</h1>\n"),
        HeadingLevel::H2 => ("<h2>", "</h2>\n"),
        HeadingLevel::H3 => ("<h3>", "</h3>\n"),
        HeadingLevel::H4 => ("<h4>", "</h4>\n"),
        HeadingLevel::H5 => ("<h5>", "</h5>\n"),
        HeadingLevel::H6 => ("<h6>", "</h6>\n"),
    }
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
