//! A prompt's content blocks, read into words and attachments. Pure.

use serde_json::Value;

/// Something that came along with the words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Attachment {
    pub name: String,
    /// The text, where it was embedded and is text.
    pub text: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Prompt {
    /// Only what the person wrote: this is read for instructions.
    pub words: String,
    /// The prompt as the session remembers it, attachments named.
    pub text: String,
    pub attachments: Vec<Attachment>,
}

impl Prompt {
    pub(crate) fn read(blocks: &Value) -> Result<Self, String> {
        let blocks = blocks.as_array().ok_or("prompt is required and is an array")?;
        let mut words = Vec::new();
        let mut attachments = Vec::new();
        for block in blocks {
            match block["type"].as_str() {
                Some("text") => words.push(block["text"].as_str().ok_or("a text block has a text")?),
                // Nothing here can see, but that an image came can be said.
                Some("image") => {
                    let kind = block["mimeType"].as_str().unwrap_or("image");
                    attachments.push(Attachment { name: name(Some(kind), None), text: None })
                }
                Some("resource_link") => {
                    attachments.push(Attachment { name: name(block["name"].as_str(), block["uri"].as_str()), text: None })
                }
                Some("resource") => attachments.push(Attachment {
                    name: name(None, block["resource"]["uri"].as_str()),
                    text: block["resource"]["text"].as_str().map(str::to_owned),
                }),
                Some(other) => return Err(format!("content of type {other:?} is not supported")),
                None => return Err("a content block has a type".to_owned()),
            }
        }
        let words = without_remark(&words.join("\n")).to_owned();
        let mut text = words.clone();
        for attachment in &attachments {
            text.push_str(&format!("\n[Attached: {}]", attachment.name));
        }
        Ok(Self { words, text, attachments })
    }
}

/// What a client says in brackets in front of the words, of an earlier session say, is not an instruction.
fn without_remark(text: &str) -> &str {
    let is_remark = ["[Note: ", "[Recap: "].iter().any(|start| text.starts_with(start));
    text.split_once("]\n\n").filter(|_| is_remark).map_or(text, |(_, words)| words)
}

fn name(name: Option<&str>, uri: Option<&str>) -> String {
    let last = uri.and_then(|uri| uri.rsplit('/').next());
    let found = name.or(last).filter(|name| !name.is_empty()).or(uri);
    found.unwrap_or("unnamed").to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_joined_and_attachments_named() {
        let prompt = Prompt::read(&json!([
            { "type": "text", "text": "read" },
            { "type": "text", "text": "this" },
            { "type": "resource", "resource": { "uri": "file:///x/notes.md", "text": "inside" } },
            { "type": "resource_link", "uri": "file:///x/y", "name": "why" },
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
        ]))
        .unwrap();
        assert_eq!(prompt.words, "read\nthis");
        assert_eq!(prompt.text, "read\nthis\n[Attached: notes.md]\n[Attached: why]\n[Attached: image/png]");
        assert_eq!(prompt.attachments[0].text.as_deref(), Some("inside"));
        assert_eq!(prompt.attachments[1].text, None);
    }

    #[test]
    fn a_remark_in_front_is_no_instruction() {
        let prompt = Prompt::read(&json!([{ "type": "text", "text": "[Note: seen: \"a\"]\n\nlist [1]\n\nfiles" }])).unwrap();
        assert_eq!(prompt.words, "list [1]\n\nfiles");
        for text in ["[Note: endless", "create [x]\n\ny", "[1]\n\nx"] {
            assert_eq!(Prompt::read(&json!([{ "type": "text", "text": text }])).unwrap().words, text);
        }
    }

    #[test]
    fn what_is_no_prompt_is_refused() {
        for blocks in
            [json!(null), json!("text"), json!([{ "text": "x" }]), json!([{ "type": "audio", "data": "", "mimeType": "audio/wav" }])]
        {
            assert!(Prompt::read(&blocks).is_err(), "{blocks}");
        }
    }
}
