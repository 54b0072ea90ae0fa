//! What the model says to what it is asked. Pure.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::wire::{self, Answer, Wanted};
use crate::probe::{CODEWORD, WORDS};

pub(super) const SLOW_PACE: Duration = Duration::from_millis(100);
/// Longer than anybody listens.
pub(super) const SLOW_PIECES: usize = 3000;

/// The tools with which agents run commands, by how their names end.
const SHELLS: [&str; 7] = ["exec_command", "run_shell_command", "run_in_terminal", "bash", "shell", "shell_command", "local_shell"];
/// What has a command run outside of the agent's own sandbox, for which it has to ask.
const ESCALATION: [(&str, &str); 2] = [("sandbox_permissions", "require_escalated"), ("justification", "May a probe make a file?")];
const COMMAND: &str = "echo papaya > probe-made.txt";

enum Interface {
    Chat { streamed: bool },
    Responses,
    Gemini { streamed: bool },
    Anthropic { streamed: bool },
}

/// What an agent asks of its model, as far as it matters here.
pub(super) struct Asked {
    interface: Interface,
    /// Everything that was said by the person, the oldest first.
    said: Vec<String>,
    /// A tool has been used since the person last spoke.
    acted: bool,
    tools: Vec<(String, Value)>,
}

impl Asked {
    pub(super) fn by_chat(body: &Value) -> Asked {
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let tools = body["tools"].as_array().into_iter().flatten();
        let tools = tools.filter_map(|tool| named(&tool["function"]["name"], &tool["function"]["parameters"]));
        Asked::read(Interface::Chat { streamed: body["stream"] == true }, messages, tools.collect())
    }

    pub(super) fn by_responses(body: &Value) -> Asked {
        let input = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
        let tools = body["tools"].as_array().into_iter().flatten();
        Asked::read(Interface::Responses, input, tools.filter_map(|tool| named(&tool["name"], &tool["parameters"])).collect())
    }

    pub(super) fn by_anthropic(body: &Value) -> Asked {
        let messages = body["messages"].as_array().into_iter().flatten();
        let messages: Vec<Value> = messages
            .map(|message| {
                match message["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "tool_result")) {
                    true => json!({ "role": "tool" }),
                    false => message.clone(),
                }
            })
            .collect();
        let tools = body["tools"].as_array().into_iter().flatten();
        let tools = tools.filter_map(|tool| named(&tool["name"], &tool["input_schema"])).collect();
        Asked::read(Interface::Anthropic { streamed: body["stream"] == true }, &messages, tools)
    }

    /// Its messages have parts in place of content.
    pub(super) fn by_gemini(body: &Value, streamed: bool) -> Asked {
        let contents = body["contents"].as_array().into_iter().flatten();
        let messages: Vec<Value> = contents
            .map(|content| {
                match content["parts"].as_array().is_some_and(|parts| parts.iter().any(|part| part["functionResponse"].is_object())) {
                    true => json!({ "role": "tool" }),
                    false => json!({ "role": content["role"], "content": content["parts"] }),
                }
            })
            .collect();
        let groups = body["tools"].as_array().into_iter().flatten();
        let tools = groups.flat_map(|group| group["functionDeclarations"].as_array().into_iter().flatten());
        let schema = |tool: &Value| {
            if tool["parametersJsonSchema"].is_object() { tool["parametersJsonSchema"].clone() } else { tool["parameters"].clone() }
        };
        let tools = tools.filter_map(|tool| named(&tool["name"], &schema(tool))).collect();
        Asked::read(Interface::Gemini { streamed }, &messages, tools)
    }

    fn read(interface: Interface, messages: &[Value], tools: Vec<(String, Value)>) -> Asked {
        let (mut said, mut acted) = (Vec::new(), false);
        for message in messages {
            let is_result = message["role"] == "tool" || message["type"] == "function_call_output";
            let text = words(&message["content"]);
            if is_result {
                acted = true;
            } else if message["role"] == "user" && text.contains("PROBE-") {
                said.push(text);
                acted = false;
            }
        }
        Asked { interface, said, acted, tools }
    }

    fn wanted(&self) -> Wanted {
        let last = self.said.last().map(String::as_str).unwrap_or_default();
        let is = |words: &str| words.split(':').next().is_some_and(|mark| last.contains(mark));
        // Without tools it is asked for something beside the work, such as a title.
        if self.tools.is_empty() {
            return Wanted::Say("A probe.".to_owned());
        }
        match () {
            () if is(WORDS.recall) => {
                let before = &self.said[..self.said.len() - 1];
                let knows = before.iter().any(|said| said.contains(CODEWORD));
                Wanted::Say(if knows { format!("The word is {CODEWORD}.") } else { "I was told no word.".to_owned() })
            }
            () if is(WORDS.slow) => Wanted::Slow,
            () if is(WORDS.act) && !self.acted => match self.tools.iter().find(|(name, _)| is_shell(name)) {
                Some((name, schema)) => Wanted::Act(name.clone(), arguments(schema)),
                None => Wanted::Say("There is no tool that runs commands.".to_owned()),
            },
            () if is(WORDS.act) => Wanted::Say("It is done.".to_owned()),
            () => Wanted::Say(format!("Yes, {CODEWORD}.")),
        }
    }

    pub(super) fn answer(&self) -> Answer {
        match (&self.interface, self.wanted()) {
            (Interface::Chat { streamed: true }, wanted) => wire::chat(wanted),
            (Interface::Chat { streamed: false }, wanted) => Answer::Whole(wire::whole(wanted)),
            (Interface::Responses, wanted) => wire::responses(wanted),
            (Interface::Gemini { streamed }, wanted) => wire::gemini(wanted, *streamed),
            (Interface::Anthropic { streamed }, wanted) => wire::anthropic(wanted, *streamed),
        }
    }
}

pub(super) fn models() -> Value {
    json!({ "object": "list", "data": [{ "id": "probe", "object": "model", "owned_by": "probe" }] })
}

fn named(name: &Value, schema: &Value) -> Option<(String, Value)> {
    Some((name.as_str()?.to_owned(), schema.clone()))
}

/// Content is a text, or parts of which some have one.
fn words(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().into_iter().chain(parts).collect::<Vec<_>>().join("\n")
}

fn is_shell(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SHELLS.iter().any(|shell| name == *shell || name.ends_with(&format!("__{shell}")))
}

/// The command, and for everything else that the tool insists on something that fits.
fn arguments(schema: &Value) -> Value {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut arguments = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_command = ["command", "cmd"].contains(&name.as_str());
        if is_command {
            let words = if property["type"] == "array" { json!(["bash", "-lc", COMMAND]) } else { json!(COMMAND) };
            arguments.insert(name.clone(), words);
        } else if let Some((_, value)) = ESCALATION.iter().find(|(known, _)| known == name) {
            arguments.insert(name.clone(), json!(value));
        } else if required.contains(&name.as_str()) {
            arguments.insert(name.clone(), filler(property));
        }
    }
    Value::Object(arguments)
}

fn filler(property: &Value) -> Value {
    if let Some(choice) = property["enum"].as_array().and_then(|choices| choices.first()) {
        return choice.clone();
    }
    match property["type"].as_str() {
        Some("integer" | "number") => json!(10),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("make a file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(answer: Answer) -> String {
        match answer {
            Answer::Stream(events) => events.into_iter().map(|event| event.data).collect(),
            Answer::Slowly { .. } => "slowly".to_owned(),
            Answer::Whole(body) => body.to_string(),
        }
    }

    fn chat_with(messages: &Value) -> Value {
        let schema = json!({ "properties": { "command": { "type": "string" }, "description": { "type": "string" }, "wait": {} },
            "required": ["command", "description"] });
        let bash = json!({ "type": "function", "function": { "name": "bash", "parameters": schema } });
        json!({ "stream": true, "messages": messages, "tools": [bash] })
    }

    #[test]
    fn it_does_what_the_words_ask_for_and_remembers_only_what_it_is_shown() {
        let user = |text: &str| json!({ "role": "user", "content": [{ "type": "text", "text": format!("<now/>{text}") }] });
        let ask = |messages: Value| said(Asked::by_chat(&chat_with(&messages)).answer());
        assert!(ask(json!([user(WORDS.say)])).contains("papaya"));
        assert!(ask(json!([user(WORDS.recall)])).contains("no word"));
        assert!(
            ask(json!([user(WORDS.say), { "role": "assistant", "content": "Yes." }, user(WORDS.recall)])).contains("The word is papaya")
        );
        assert_eq!(ask(json!([user(WORDS.slow)])), "slowly");
        let act = ask(json!([user(WORDS.act)]));
        assert!(act.contains("probe-made.txt") && act.contains("description") && !act.contains("wait"), "{act}");
        assert!(ask(json!([user(WORDS.act), { "role": "tool", "content": "ok" }])).contains("It is done."));
        let title = json!({ "messages": [user(WORDS.slow)] });
        assert!(said(Asked::by_chat(&title).answer()).contains("A probe."));
    }

    #[test]
    fn the_other_interface_says_the_same() {
        let user = |text: &str| json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] });
        let schema = json!({ "properties": { "command": { "type": "array" } }, "required": ["command"] });
        let ask = |input: Value| {
            let body = json!({ "input": input, "tools": [{ "type": "function", "name": "shell", "parameters": schema }] });
            said(Asked::by_responses(&body).answer())
        };
        assert!(ask(json!([user(WORDS.act)])).contains("-lc"));
        assert!(ask(json!([user(WORDS.act), { "type": "function_call_output", "output": "ok" }])).contains("It is done."));
        assert!(ask(json!([user(WORDS.say), user(WORDS.recall)])).contains("The word is papaya"));
    }

    #[test]
    fn so_does_the_third() {
        let user = |text: &str| json!({ "role": "user", "parts": [{ "text": text }] });
        let shell = json!({ "name": "run_shell_command", "parametersJsonSchema": { "properties": { "command": { "type": "string" } } } });
        let ask = |contents: Value| {
            let body = json!({ "contents": contents, "tools": [{ "functionDeclarations": [shell] }] });
            said(Asked::by_gemini(&body, true).answer())
        };
        assert!(ask(json!([user(WORDS.act)])).contains("probe-made.txt"));
        assert!(ask(json!([user(WORDS.act), { "role": "user", "parts": [{ "functionResponse": {} }] }])).contains("It is done."));
        assert!(ask(json!([user(WORDS.say), user(WORDS.recall)])).contains("The word is papaya"));
        assert_eq!(ask(json!([user(WORDS.slow)])), "slowly");
    }
}
