//! Puts a reply on the wire: as an event stream, as one JSON object, or as the fault it describes.
//! Decides nothing; the script did.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::reply::{Beat, CallId, Ending, Reply};
use super::request::{Dialect, Request};
use super::responses::Response;
use super::{anthropic, gemini, http, stamped_stream};

/// Sends the reply. `true` means that the connection is fit for another request.
pub(super) async fn send<W>(writer: &mut W, request: &Request, reply: Reply, next_call_id: impl Fn() -> String) -> io::Result<bool>
where
    W: AsyncWrite + Unpin,
{
    if reply.ending == Ending::HangUp {
        return Ok(false);
    }
    if let Some((content_type, body)) = &reply.whole {
        http::write_whole(writer, reply.status, &reply.headers, content_type, body).await?;
        return Ok(true);
    }
    let ids: Vec<Option<String>> = reply.calls.iter().map(|call| id_of(&call.id, &next_call_id)).collect();
    if request.is_response() {
        return send_response(writer, request, &reply, Response::new(request, &reply, &ids, &next_call_id)).await;
    }
    if let Some(frames) = frames(request, &reply, &ids) {
        return send_frames(writer, request, &reply, frames).await;
    }
    if !request.is_streaming() {
        let body = whole_completion(request, &reply, &ids).to_string();
        http::write_json(writer, reply.status, &reply.headers, &body).await?;
        return Ok(true);
    }
    http::write_stream_head(writer, reply.status, &reply.headers).await?;
    if let Some(chunks) = reply.stamped {
        stamped_stream::write(writer, request, chunks).await?;
    }
    for payload in payloads(request, &reply, &ids) {
        pause(&reply).await;
        write_event(writer, &reply, &payload).await?;
    }
    if breaks_off(writer, &reply).await? {
        return Ok(false);
    }
    end(writer, request, &reply).await
}

/// The same for the Responses API.
async fn send_response<W>(writer: &mut W, request: &Request, reply: &Reply, response: Response) -> io::Result<bool>
where
    W: AsyncWrite + Unpin,
{
    if !request.is_streaming() {
        http::write_json(writer, reply.status, &reply.headers, &response.whole().to_string()).await?;
        return Ok(true);
    }
    http::write_stream_head(writer, reply.status, &reply.headers).await?;
    for payloads in &response.steps {
        pause(reply).await;
        for payload in payloads {
            write_event(writer, reply, payload).await?;
        }
    }
    if breaks_off(writer, reply).await? {
        return Ok(false);
    }
    if reply.ending == Ending::Done {
        for payload in &response.end {
            write_event(writer, reply, payload).await?;
        }
    }
    http::write_last_chunk(writer).await?;
    Ok(true)
}

/// A reply in a provider's own form.
pub(super) struct Frames {
    /// Whole events. What belongs together, so that one pass of the gate lets one piece of the script through.
    pub steps: Vec<Vec<String>>,
    /// What closes the stream where nothing goes wrong.
    pub end: Vec<String>,
    /// The answer for a client that did not ask for a stream.
    pub whole: Value,
}

/// One event, with its name where the dialect has names.
pub(super) fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

fn frames(request: &Request, reply: &Reply, ids: &[Option<String>]) -> Option<Frames> {
    match request.dialect() {
        Dialect::Anthropic => Some(anthropic::frames(request, reply, ids)),
        Dialect::Gemini => Some(gemini::frames(request, reply, ids)),
        Dialect::OpenAi => None,
    }
}

async fn send_frames<W>(writer: &mut W, request: &Request, reply: &Reply, frames: Frames) -> io::Result<bool>
where
    W: AsyncWrite + Unpin,
{
    if !request.is_streaming() {
        http::write_json(writer, reply.status, &reply.headers, &frames.whole.to_string()).await?;
        return Ok(true);
    }
    http::write_stream_head(writer, reply.status, &reply.headers).await?;
    for step in &frames.steps {
        pause(reply).await;
        for event in step {
            write_slices(writer, reply, event).await?;
        }
    }
    if breaks_off(writer, reply).await? {
        return Ok(false);
    }
    if reply.ending == Ending::Done {
        for event in &frames.end {
            write_slices(writer, reply, event).await?;
        }
    }
    http::write_last_chunk(writer).await?;
    Ok(true)
}

/// Whether the stream stops here without an end, which is then over.
async fn breaks_off<W: AsyncWrite + Unpin>(writer: &mut W, reply: &Reply) -> io::Result<bool> {
    match (reply.ending, &reply.gate) {
        (Ending::Stall, None) => std::future::pending().await,
        (Ending::Stall, Some(gate)) => gate.pass().await,
        (Ending::Cut | Ending::HangUp, _) => {
            pass_gate(reply).await;
            writer.shutdown().await?;
        }
        _ => {
            pass_gate(reply).await;
            return Ok(false);
        }
    }
    Ok(true)
}

async fn end<W: AsyncWrite + Unpin>(writer: &mut W, request: &Request, reply: &Reply) -> io::Result<bool> {
    match reply.ending {
        Ending::Cut | Ending::HangUp | Ending::Stall | Ending::Early => {}
        Ending::Bare => write_event(writer, reply, "[DONE]").await?,
        Ending::Done => {
            let fallback = if reply.calls.is_empty() { "stop" } else { "tool_calls" };
            let reason = reply.finish.as_deref().unwrap_or(fallback);
            let last = chunk(request, json!({}), Some(reason));
            write_event(writer, reply, &last.to_string()).await?;
            if request.body["stream_options"]["include_usage"] == true || reply.usage.is_some() {
                let mut counted = chunk(request, json!({}), None);
                counted["choices"] = json!([]);
                counted["usage"] = usage(reply);
                write_event(writer, reply, &counted.to_string()).await?;
            }
            write_event(writer, reply, "[DONE]").await?;
        }
    }
    http::write_last_chunk(writer).await?;
    Ok(true)
}

async fn pause(reply: &Reply) {
    pass_gate(reply).await;
    if let Some(delay) = reply.delay {
        tokio::time::sleep(delay).await;
    }
}

async fn pass_gate(reply: &Reply) {
    if let Some(gate) = &reply.gate {
        gate.pass().await;
    }
}

async fn write_event<W: AsyncWrite + Unpin>(writer: &mut W, reply: &Reply, payload: &str) -> io::Result<()> {
    write_slices(writer, reply, &format!("data: {payload}\n\n")).await
}

async fn write_slices<W: AsyncWrite + Unpin>(writer: &mut W, reply: &Reply, event: &str) -> io::Result<()> {
    let size = reply.byte_slices.unwrap_or(event.len());
    for slice in event.as_bytes().chunks(size) {
        http::write_chunk(writer, slice).await?;
    }
    Ok(())
}

fn id_of(id: &CallId, next_call_id: impl Fn() -> String) -> Option<String> {
    match id {
        CallId::Made => Some(next_call_id()),
        CallId::Given(id) => Some(id.clone()),
        CallId::Missing => None,
    }
}

/// The payloads of all events before the end, in their order.
fn payloads(request: &Request, reply: &Reply, ids: &[Option<String>]) -> Vec<String> {
    let delta = |delta: Value| chunk(request, delta, None).to_string();
    let mut payloads = Vec::new();
    for beat in &reply.beats {
        payloads.push(match beat {
            Beat::Text(text) => delta(json!({"role": "assistant", "content": text})),
            Beat::Thought(thought) => delta(json!({"role": "assistant", "reasoning_content": thought})),
            Beat::Error(message) => json!({"error": {"message": message, "type": "server_error"}}).to_string(),
            Beat::Raw(payload) => payload.clone(),
        });
    }
    for (index, (call, id)) in reply.calls.iter().zip(ids).enumerate() {
        let mut opening = json!({
            "index": index,
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        if let Some(id) = id {
            opening["id"] = json!(id);
        }
        payloads.push(delta(json!({"role": "assistant", "tool_calls": [opening]})));
    }
    for piece in 0..reply.argument_pieces {
        for (index, call) in reply.calls.iter().enumerate() {
            let arguments = slice(&call.arguments, piece, reply.argument_pieces);
            let part = json!({"index": index, "function": {"arguments": arguments}});
            payloads.push(delta(json!({"tool_calls": [part]})));
        }
    }
    payloads
}

/// The `piece`-th of `pieces` nearly equal parts, cut between characters.
pub(super) fn slice(text: &str, piece: usize, pieces: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    let bound = |piece: usize| characters.len() * piece / pieces;
    characters[bound(piece)..bound(piece + 1)].iter().collect()
}

pub(super) fn chunk(request: &Request, delta: Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.model(),
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    })
}

fn usage(reply: &Reply) -> Value {
    let (prompt, completion) = reply.usage.unwrap_or((10, 5));
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    })
}

/// The same reply for a client that did not ask for a stream.
fn whole_completion(request: &Request, reply: &Reply, ids: &[Option<String>]) -> Value {
    let texts = reply.beats.iter().filter_map(|beat| match beat {
        Beat::Text(text) => Some(text.as_str()),
        Beat::Thought(_) | Beat::Error(_) | Beat::Raw(_) => None,
    });
    let mut message = json!({"role": "assistant", "content": texts.collect::<String>()});
    let calls = reply.calls.iter().zip(ids).map(|(call, id)| {
        json!({
            "id": id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        })
    });
    let calls: Vec<Value> = calls.collect();
    let fallback = if calls.is_empty() { "stop" } else { "tool_calls" };
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let reason = reply.finish.as_deref().unwrap_or(fallback);
    json!({
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": request.model(),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage(reply),
    })
}
