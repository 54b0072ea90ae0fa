//! One recorded request and the questions a script or a test asks about it.

use serde_json::Value;

use super::{anthropic, gemini};

/// Whose form a request has. What another has than OpenAI's is read as chat completions, so that a script is written once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    OpenAi,
    Anthropic,
    Gemini,
}

/// A request as it came over the wire, its body in the form of OpenAI's. Header names are lowercase; a body that is not JSON is null.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Request {
    /// Whether it asks a model for an answer, in whichever dialect.
    pub(super) fn is_completion(&self) -> bool {
        self.is_post_to("/chat/completions") || self.is_response() || self.dialect() != Dialect::OpenAi
    }

    /// The Responses API instead of chat completions.
    pub(super) fn is_response(&self) -> bool {
        self.is_post_to("/responses")
    }

    pub(super) fn dialect(&self) -> Dialect {
        if self.is_post_to("/v1/messages") {
            return Dialect::Anthropic;
        }
        match self.is_post_to(":streamGenerateContent") || self.is_post_to(":generateContent") {
            true => Dialect::Gemini,
            false => Dialect::OpenAi,
        }
    }

    /// The request as a script reads it.
    pub(super) fn understood(mut self) -> Request {
        match self.dialect() {
            Dialect::OpenAi => {}
            Dialect::Anthropic => self.body = anthropic::as_chat(&self.body),
            Dialect::Gemini => self.body = gemini::as_chat(self.path_alone(), &self.body),
        }
        self
    }

    fn path_alone(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    fn is_post_to(&self, end: &str) -> bool {
        self.method == "POST" && self.path_alone().ends_with(end)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    pub fn is_streaming(&self) -> bool {
        self.body["stream"].as_bool().unwrap_or(false)
    }

    /// What the conversation consists of. In the Responses API these are items, of which some are messages.
    pub fn messages(&self) -> &[Value] {
        let list = if self.is_response() { &self.body["input"] } else { &self.body["messages"] };
        list.as_array().map_or(&[], Vec::as_slice)
    }

    pub fn roles(&self) -> Vec<&str> {
        let messages = self.messages().iter();
        messages.filter_map(|message| message["role"].as_str()).collect()
    }

    /// The text of the last message from the user.
    pub fn last_user(&self) -> String {
        let mut messages = self.messages().iter().rev();
        let last = messages.find(|message| message["role"] == "user");
        last.map(|message| text_of(&message["content"])).unwrap_or_default()
    }

    /// The tool results since the last message from the user, oldest first.
    pub fn tool_results(&self) -> Vec<String> {
        let messages = self.messages();
        let user = messages.iter().rposition(|message| message["role"] == "user");
        let after = &messages[user.map_or(0, |position| position + 1)..];
        after.iter().filter_map(tool_result).collect()
    }

    pub fn has_tool_result(&self) -> bool {
        !self.tool_results().is_empty()
    }

    /// The names of the tools that were offered.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let names = tools.iter().map(|tool| tool["function"]["name"].as_str().or(tool["name"].as_str()));
        names.flatten().collect()
    }

    /// Whether this tool was offered as one that takes plain text instead of arguments.
    pub(super) fn takes_text(&self, tool_name: &str) -> bool {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().any(|tool| tool["type"] == "custom" && tool["name"] == tool_name)
    }
}

/// What a tool has answered, if this is such an answer: a message of its own role, or an item of its own type.
fn tool_result(message: &Value) -> Option<String> {
    let is_item = message["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output"));
    match message["role"].as_str() {
        Some("tool") => Some(text_of(&message["content"])),
        _ if is_item => Some(text_of(&message["output"])),
        _ => None,
    }
}

/// Content is a string, or a list of parts of which some carry text.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
