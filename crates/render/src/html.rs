//! HTML that is safe by the way it is made: tags are words of this program and nothing else, which their type holds; whatever comes from
//! a text is written as text, or as the value of an attribute, with what would mean something there replaced.

use domain::text::visible;

use crate::{code, escape};

/// Opened in a page of its own, which learns nothing of this one.
const LINK_END: &str = "\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">";

#[derive(Default)]
pub(crate) struct Html {
    written: String,
}

impl Html {
    pub(crate) fn with_capacity(bytes: usize) -> Html {
        Html { written: String::with_capacity(bytes) }
    }

    pub(crate) fn into_string(self) -> String {
        self.written
    }

    pub(crate) fn len(&self) -> usize {
        self.written.len()
    }

    pub(crate) fn tag(&mut self, tag: &'static str) {
        self.written.push_str(tag);
    }

    /// A tag that stands at the start of a line.
    pub(crate) fn block(&mut self, tag: &'static str) {
        if !self.written.is_empty() && !self.written.ends_with('\n') {
            self.written.push('\n');
        }
        self.tag(tag);
    }

    /// With what would not be seen of it made visible.
    pub(crate) fn text(&mut self, text: &str) {
        escape::text(text, &mut self.written);
    }

    pub(crate) fn code_block(&mut self, source: &str, language: &str) {
        code::block(source, language, &mut self.written);
        self.tag("\n");
    }

    pub(crate) fn numbered_list(&mut self, first: u64) {
        if first == 1 {
            return self.block("<ol>\n");
        }
        self.block("<ol start=\"");
        self.written.push_str(&first.to_string());
        self.tag("\">\n");
    }

    /// `scheme` is put before an address that has none. Whether it may be linked to is asked before.
    pub(crate) fn link(&mut self, scheme: &'static str, address: &str, title: &str) {
        self.tag("<a href=\"");
        self.tag(scheme);
        escape::address(address, &mut self.written);
        if !title.is_empty() {
            self.tag("\" title=\"");
            escape::attribute(&visible(title), &mut self.written);
        }
        self.tag(LINK_END);
    }
}
