//! What the model says to what it is asked. Pure.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::probe::{CODEWORD, WORDS};

pub(super) const SLOW_PACE: Duration = Duration::from_millis(100);
/// Longer than anybody listens.
pub(super) const SLOW_PIECES: usize = 3000;

/// The tools with which agents run commands, by how their names end.
const SHELLS: [&str; 7] = ["exec_command", "run_shell_command", "run_in_terminal", "bash", "shell", "shell_command", "local_shell"];
const COMMAND: &str = "echo papaya > probe-made.txt";
const CALL: &str = "call_probe";

/// One event of a stream; the name is for those interfaces that have one.
pub(super) struct Event {
    pub name: Option<&'static str>,
    pub data: String,
}

pub(super) enum Answer {
    Whole(Value),
    Stream(Vec<Event>),
    /// The opening, and then the piece again and again.
    Slowly {
        opening: Vec<Event>,
        piece: Event,
    },
}

enum Interface {
    Chat { streamed: bool },
    Responses,
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

enum Wanted {
    Say(String),
    Slow,
    Act(String, Value),
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
            (Interface::Chat { streamed: true }, wanted) => chat(wanted),
            (Interface::Chat { streamed: false }, wanted) => Answer::Whole(whole(wanted)),
            (Interface::Responses, wanted) => responses(wanted),
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

fn piece(delta: &Value, finish: Option<&str>) -> Event {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let usage = finish.map(|_| json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 }));
    let chunk =
        json!({ "id": "probe", "object": "chat.completion.chunk", "created": 1, "model": "probe", "choices": [choice], "usage": usage });
    Event { name: None, data: chunk.to_string() }
}

fn chat(wanted: Wanted) -> Answer {
    let done = Event { name: None, data: "[DONE]".to_owned() };
    let first = piece(&json!({ "role": "assistant", "content": "" }), None);
    match wanted {
        Wanted::Slow => Answer::Slowly { opening: vec![first], piece: piece(&json!({ "content": "tick " }), None) },
        Wanted::Say(text) => Answer::Stream(vec![first, piece(&json!({ "content": text }), None), piece(&json!({}), Some("stop")), done]),
        Wanted::Act(name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call = json!({ "tool_calls": [{ "index": 0, "id": CALL, "type": "function", "function": function }] });
            Answer::Stream(vec![first, piece(&call, None), piece(&json!({}), Some("tool_calls")), done])
        }
    }
}

/// For those who do not have it streamed; they are not asked to be slow.
fn whole(wanted: Wanted) -> Value {
    let (message, finish) = match wanted {
        Wanted::Act(name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call = json!([{ "id": CALL, "type": "function", "function": function }]);
            (json!({ "role": "assistant", "content": null, "tool_calls": call }), "tool_calls")
        }
        Wanted::Say(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Wanted::Slow => (json!({ "role": "assistant", "content": "tick" }), "stop"),
    };
    json!({ "id": "probe", "object": "chat.completion", "created": 1, "model": "probe",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 } })
}

fn responses(wanted: Wanted) -> Answer {
    let event = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        Event { name: Some(name), data: data.to_string() }
    };
    let created = event("response.created", json!({ "response": { "id": "probe" } }));
    let usage =
        json!({ "input_tokens": 10, "input_tokens_details": null, "output_tokens": 5, "output_tokens_details": null, "total_tokens": 15 });
    let completed = event("response.completed", json!({ "response": { "id": "probe", "usage": usage } }));
    let message = |text: &str| json!({ "type": "message", "id": "message_probe", "role": "assistant", "content": [{ "type": "output_text", "text": text }] });
    let added = || event("response.output_item.added", json!({ "output_index": 0, "item": message("") }));
    let delta = |text: &str| event("response.output_text.delta", json!({ "item_id": "message_probe", "output_index": 0, "delta": text }));
    match wanted {
        Wanted::Slow => Answer::Slowly { opening: vec![created, added()], piece: delta("tick ") },
        Wanted::Say(text) => {
            let done = event("response.output_item.done", json!({ "output_index": 0, "item": message(&text) }));
            Answer::Stream(vec![created, added(), delta(&text), done, completed])
        }
        Wanted::Act(name, arguments) => {
            let call = json!({ "type": "function_call", "call_id": CALL, "name": name, "arguments": arguments.to_string() });
            Answer::Stream(vec![created, event("response.output_item.done", json!({ "output_index": 0, "item": call })), completed])
        }
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
}
