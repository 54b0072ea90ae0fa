//! What goes along with a prompt's words, in the form that the agent said it takes.

use std::borrow::Borrow;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    BlobResourceContents, ContentBlock, EmbeddedResource, EmbeddedResourceResource, ImageContent, ResourceLink, TextContent,
    TextResourceContents,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::response::Capabilities;
use crate::fault::RpcError;

/// Something that a person sent along with a prompt.
#[derive(Clone, PartialEq, Debug)]
pub enum Attached {
    Image {
        name: String,
        mime_type: String,
        data: Arc<[u8]>,
    },
    /// A file that is not on this machine's disk.
    File {
        name: String,
        mime_type: String,
        data: Arc<[u8]>,
    },
    /// A file or directory at an absolute path that the agent can read itself.
    Link {
        name: String,
        path: PathBuf,
        size: Option<u64>,
    },
}

const NO_IMAGES: &str = "it takes no images";
pub(crate) const TEXT_ONLY: &str = "it takes no files but text";

impl Attached {
    pub fn name(&self) -> &str {
        match self {
            Attached::Image { name, .. } | Attached::File { name, .. } | Attached::Link { name, .. } => name,
        }
    }
}

/// The reason, with what it holds for.
pub fn not_sent(reason: &str, names: &[impl Borrow<str>]) -> String {
    let were = if names.len() == 1 { "was" } else { "were" };
    format!("{reason}, so `{}` {were} not sent", names.join("`, `"))
}

/// All of it or nothing: a prompt about an image that was left out would be another prompt.
pub(crate) fn blocks(attached: &[Attached], agent: &Capabilities) -> Result<Vec<ContentBlock>, RpcError> {
    attached.iter().map(|attached| block(attached, agent)).collect()
}

/// Why the agent does not take this, if it does not.
pub(crate) fn refusal(attached: &Attached, agent: &Capabilities) -> Option<&'static str> {
    match attached {
        Attached::Image { .. } if !agent.image => Some(NO_IMAGES),
        // Every agent takes text.
        Attached::File { data, .. } if !agent.embedded_context && std::str::from_utf8(data).is_err() => Some(TEXT_ONLY),
        _ => None,
    }
}

fn block(attached: &Attached, agent: &Capabilities) -> Result<ContentBlock, RpcError> {
    if let Some(reason) = refusal(attached, agent) {
        return Err(RpcError::Unsupported(not_sent(reason, &[attached.name()])));
    }
    Ok(match attached {
        Attached::Image { mime_type, data, .. } => ContentBlock::Image(ImageContent::new(STANDARD.encode(data), mime_type.as_str())),
        Attached::File { name, mime_type, data } => file(name, mime_type, data, agent),
        Attached::Link { name, path, size } => {
            let size = size.and_then(|size| i64::try_from(size).ok());
            let uri = format!("file://{}", encoded(path.as_os_str().as_bytes()));
            ContentBlock::ResourceLink(ResourceLink::new(name.as_str(), uri).size(size))
        }
    })
}

fn file(name: &str, mime_type: &str, data: &[u8], agent: &Capabilities) -> ContentBlock {
    let text = std::str::from_utf8(data).ok();
    if let Some(text) = text.filter(|_| !agent.embedded_context) {
        return ContentBlock::Text(TextContent::new(format!("Attached file `{name}`:\n\n{text}")));
    }
    let uri = format!("attachment:///{}", encoded(name.as_bytes()));
    let resource = match text {
        Some(text) => EmbeddedResourceResource::TextResourceContents(TextResourceContents::new(text, uri).mime_type(mime_type.to_owned())),
        None => EmbeddedResourceResource::BlobResourceContents(
            BlobResourceContents::new(STANDARD.encode(data), uri).mime_type(mime_type.to_owned()),
        ),
    };
    ContentBlock::Resource(EmbeddedResource::new(resource))
}

/// A path as it stands in a URI.
fn encoded(path: &[u8]) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::{Value, json};

    fn sent(attached: &Attached, agent: &Capabilities) -> Value {
        serde_json::to_value(block(attached, agent).unwrap()).unwrap()
    }

    fn file_named(name: &str, data: &[u8]) -> Attached {
        Attached::File { name: name.into(), mime_type: "text/plain".into(), data: data.into() }
    }

    #[test]
    fn what_an_agent_takes_has_the_protocols_shape() {
        let all = Capabilities { image: true, embedded_context: true, ..Capabilities::default() };
        let image = Attached::Image { name: "a.png".into(), mime_type: "image/png".into(), data: b"\x89PNG"[..].into() };
        assert_eq!(sent(&image, &all), json!({ "type": "image", "data": "iVBORw==", "mimeType": "image/png" }));
        let resource = json!({ "uri": "attachment:///my%20notes.txt", "text": "hi", "mimeType": "text/plain" });
        let mut text = sent(&file_named("my notes.txt", b"hi"), &all);
        assert_eq!(text["type"], "resource");
        for (key, value) in resource.as_object().unwrap() {
            assert_eq!(text["resource"][key].take(), *value);
        }
        assert_eq!(sent(&file_named("x", b"\xff"), &all)["resource"]["blob"], "/w==");
        let link = Attached::Link { name: "a b.rs".into(), path: "/w/ä b.rs".into(), size: Some(3) };
        assert_eq!(
            sent(&link, &Capabilities::default()),
            json!({ "type": "resource_link", "name": "a b.rs", "uri": "file:///w/%C3%A4%20b.rs", "size": 3 })
        );
    }

    #[test]
    fn what_an_agent_does_not_take_is_refused_by_name_or_becomes_text() {
        let none = Capabilities::default();
        let image = Attached::Image { name: "a.png".into(), mime_type: "image/png".into(), data: b"x"[..].into() };
        for attached in [image, file_named("a.png", b"\xff")] {
            assert!(matches!(block(&attached, &none), Err(RpcError::Unsupported(message)) if message.contains("`a.png`")));
        }
        assert_eq!(sent(&file_named("n.txt", b"hi"), &none), json!({ "type": "text", "text": "Attached file `n.txt`:\n\nhi" }));
    }
}
