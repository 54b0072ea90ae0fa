//! The forms that values take as text. Each function gives None for a text that has the wrong format.

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use domain::text;

/// A value as it was given, with what a relative path in it is relative to.
pub(super) struct Given<'a> {
    pub text: &'a str,
    pub base: &'a Path,
    pub home: Option<&'a Path>,
}

impl Given<'_> {
    /// An absolute path; `~/` is the home directory, since nothing expands it in a file.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let path = match self.text.strip_prefix('~') {
            Some("") => self.home?.to_path_buf(),
            Some(rest) if rest.starts_with('/') => self.home?.join(rest.trim_start_matches('/')),
            _ => self.base.join(self.text),
        };
        std::path::absolute(path).ok()
    }

    /// A path, or a bare name to be looked up in `PATH`.
    pub(super) fn program(&self) -> Option<PathBuf> {
        if self.text.contains('/') || self.text.starts_with('~') { self.path() } else { Some(PathBuf::from(self.text)) }
    }

    pub(super) fn owned(&self) -> String {
        self.text.to_owned()
    }
}

pub(super) fn shown(path: &Path) -> Option<String> {
    Some(path.display().to_string())
}

/// `host:port`, where the host is a name, an IPv4 address or an IPv6 address in brackets.
pub(super) fn address(text: &str) -> Option<String> {
    let (host, port) = text.rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    let fits = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')),
    };
    fits.then(|| text.to_owned())
}

/// An http or https URL. One with a password in it is refused: it would be shown as what it is, not as a secret.
pub(super) fn url(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let fits = matches!(scheme, "http" | "https")
        && !authority.is_empty()
        && !authority.starts_with(':')
        && !authority.contains('@')
        && !text.contains(char::is_whitespace);
    fits.then(|| text.to_owned())
}

/// An address as it may be shown: whoever is let in by a name or a password in it is not.
pub(super) fn without_password(text: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = text.split_once("://") else { return text.into() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://***{}", &rest[at..]).into(),
        None => text.into(),
    }
}

/// An address of a person or a page.
pub(super) fn contact(text: &str) -> Option<String> {
    let plain = text.len() <= 200 && text.bytes().all(|byte| byte.is_ascii_graphic());
    let names = |rest: &str| rest.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let fits = text.strip_prefix("mailto:").map_or_else(|| text.starts_with("https://") && url(text).is_some(), names);
    (plain && fits).then(|| text.to_owned())
}

pub(super) fn whole_number(text: &str, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
    // `parse` takes a leading plus, which nobody means.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?.filter(|number| range.contains(number))
}

/// A number of bytes, which may be given in K, M, G or T.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|end: char| !end.is_ascii_digit());
    let power = match text[digits.len()..].trim_end_matches("iB") {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    whole_number(digits, 0..=u64::MAX)?.checked_mul(1024_u64.pow(power))
}

/// The id of an agent.
pub(super) fn identifier(text: &str) -> Option<String> {
    let fits = text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    fits.then(|| text.to_owned())
}

/// A name without spaces at its ends and without control characters.
pub(super) fn name(text: &str) -> Option<String> {
    (text.trim() == text && !text.contains(char::is_control)).then(|| text.to_owned())
}

/// What is hidden, reorders text or drives a terminal is written out, line breaks too: what is shown is what is there, on one line.
pub fn visible(text: &str) -> String {
    let written = |letter: char| if letter.is_control() && letter != '\t' { text::written_out(letter) } else { letter.to_string() };
    text::visible(text).chars().map(written).collect()
}

/// One line of text for people, of at most `most` characters, hidden ones made visible.
pub(super) fn line(text: &str, most: usize) -> Option<String> {
    let shown = visible(text.trim());
    (!shown.is_empty() && !text.contains('\n') && shown.chars().count() <= most).then_some(shown)
}

/// At most `count` lines of at most `most` characters.
pub(super) fn lines(text: &str, count: usize, most: usize) -> Option<Vec<String>> {
    let lines: Vec<_> = text.lines().map(|text| line(text, most)).collect::<Option<_>>()?;
    (lines.len() <= count).then_some(lines)
}

/// Comma separated, each with the form; an empty list has none.
pub(super) fn list<T>(text: &str, form: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(',').map(|part| form(part.trim())).collect()
}

/// A DNS name or an address, without a port.
pub(super) fn host_name(text: &str) -> Option<String> {
    let label = |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let fits = text.parse::<IpAddr>().is_ok() || text.split('.').all(label);
    fits.then(|| text.to_ascii_lowercase())
}

/// An address, or a network as `address/bits`.
pub(super) fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits {
        Some(bits) => u8::try_from(whole_number(bits, 0..=most)?).ok()?,
        None => most as u8,
    };
    Some((address, bits))
}
