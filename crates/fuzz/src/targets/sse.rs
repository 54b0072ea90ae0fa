//! Event streams: those of our server as the command line reads them, and those of models.
//!
//! The first line of an input says who reads it and in which pieces: `client 7`, or `openai 200 16` with a provider, a status and the
//! size of a piece. The rest is the stream.

mod endpoint;

use std::time::Duration;

use model::{Event, Message, Request};
use voxpilot::client::sse::Parser;

use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;
use endpoint::{Body, ENDPOINT, KEY};

pub(super) const TARGET: Target = Target {
    name: "sse",
    about: "event streams, as the command line and the model's client read them",
    run,
    generate,
    max_bytes: 16 * 1024,
    // A connection has buffers of its own.
    memory: Memory { base: 4 << 20, ..Memory::USUAL },
};

/// A completion that takes longer will not end: the endpoint has closed by then.
const DEADLINE: Duration = Duration::from_secs(60);
const MAX_TEXT_BYTES: usize = 4 << 20;
/// What people are told of a fault is a sentence.
const MAX_FAULT_BYTES: usize = 2000;

const LANGUAGE: Language = Language {
    words: &[
        "data: ",
        "data:",
        "event: ",
        "id: ",
        ": keepalive",
        "\n\n",
        "\r\n\r\n",
        "data: [DONE]\n\n",
        "delta",
        "content",
        "choices",
        "tool_calls",
        "index",
        "function",
        "arguments",
        "finish_reason",
        "stop",
        "length",
        "usage",
        "error",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "text_delta",
        "input_json_delta",
        "message_delta",
        "message_stop",
        "candidates",
        "parts",
        "functionCall",
        "finishReason",
        "client 1\n",
        "openai 200 16\n",
        "openai 429 64\n",
        "anthropic 200 16\n",
        "gemini 200 16\n",
    ],
    lines: true,
    json: true,
    text: true,
};

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

fn run(input: &[u8], features: &mut Features) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (head, stream) = (String::from_utf8_lossy(&input[..end]), input.get(end + 1..).unwrap_or_default());
    let mut words = head.split_whitespace();
    let reader = words.next().unwrap_or_default();
    let mut number = || words.next().and_then(|word| word.parse::<usize>().ok()).unwrap_or(1);
    match reader {
        "openai" | "anthropic" | "gemini" => {
            let status = u16::try_from(number()).ok().filter(|status| (200..600).contains(status)).unwrap_or(200);
            complete(reader, Body { status, piece: number().max(1), bytes: stream.to_vec() }, features);
        }
        _ => read(stream, number().max(1), features),
    }
}

/// The events do not depend on how the stream was cut.
fn read(stream: &[u8], piece: usize, features: &mut Features) {
    let events = |piece: usize| {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for piece in stream.chunks(piece) {
            assert!(parser.push(piece), "a short stream is refused");
            events.extend(std::iter::from_fn(|| parser.next_event()));
        }
        events
    };
    let whole = events(stream.len().max(1));
    assert!(whole == events(piece), "a stream in pieces of {piece} has other events");
    assert!(whole.len() <= stream.len() / 2, "more events than ends of events");
    for event in &whole {
        features.note((event.id.is_some(), event.data.is_object(), event.kind.len().min(20)));
    }
}

/// A completion ends, with all of its text or with a fault that a person can read.
fn complete(provider: &str, body: Body, features: &mut Features) {
    let most_events = body.bytes.len() + 16;
    let (outcome, events) = ENDPOINT.complete(provider, body, request(), DEADLINE);
    assert!(events.len() <= most_events, "{} events of so short a stream", events.len());
    let text: String = events.iter().filter_map(|event| if let Event::Text(text) = event { Some(text.as_str()) } else { None }).collect();
    assert!(text.len() <= MAX_TEXT_BYTES, "a text without a bound");
    match outcome {
        None => panic!("a completion does not end"),
        Some(Ok(completion)) => {
            assert!(completion.text == text, "the answer is not what was passed on: {:?}, not {text:?}", completion.text);
            let mut ids: Vec<&str> = completion.tool_calls.iter().map(|call| call.id.as_str()).collect();
            ids.sort_unstable();
            assert!(
                ids.iter().all(|id| !id.is_empty()) && ids.windows(2).all(|pair| pair[0] != pair[1]),
                "tool calls share an id: {ids:?}"
            );
            features.note((provider, completion.tool_calls.len().min(8), completion.truncated, completion.usage.is_some()));
        }
        Some(Err(fault)) => {
            let shown = fault.to_string();
            assert!(!shown.contains(KEY), "a fault shows the key: {shown}");
            assert!(shown.len() <= MAX_FAULT_BYTES, "a fault of {} bytes", shown.len());
            let kind = format!("{fault:?}");
            features.note((provider, kind.split(' ').next().map(str::to_owned)));
        }
    }
}

fn request() -> Request {
    Request { messages: vec![Message::User("hello".to_owned())], tools: Vec::new() }
}
