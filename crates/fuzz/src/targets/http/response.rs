//! The responses of a connection, as far as they can be told apart.

/// One response: its status, and the code of an error in our form.
pub(super) struct Response {
    pub status: u16,
    pub code: Option<String>,
    /// It is an event stream.
    pub endless: bool,
}

impl Response {
    /// All of them, in order. Reading stops where a body has no length that is known.
    pub(super) fn all(bytes: &[u8]) -> Vec<Response> {
        let mut responses = Vec::new();
        let mut rest = bytes;
        while let Some((response, length)) = Response::first(rest) {
            responses.push(response);
            rest = rest.get(length..).unwrap_or_default();
        }
        responses
    }

    /// The first of them and its length with its body.
    fn first(bytes: &[u8]) -> Option<(Response, usize)> {
        let end = head_bytes(bytes)?;
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let status = head.strip_prefix("http/1.")?.get(2..5)?.parse().ok()?;
        let length = body_bytes(&head);
        let whole = bytes.get(end..end + length.unwrap_or_default()).unwrap_or_default();
        let body: Option<serde_json::Value> = serde_json::from_slice(whole).ok();
        let code = body.and_then(|body| Some(body.get("error")?.get("code")?.as_str()?.to_owned()));
        // A response to HEAD has a length and no body, which is seen by what follows.
        let has_body = !bytes[end..].starts_with(b"HTTP/1.");
        let total = if has_body { end + length.unwrap_or(bytes.len()) } else { end };
        let endless = head.contains("content-type: text/event-stream");
        Some((Response { status, code, endless }, total))
    }

    /// Whether the last response that has begun is an event stream.
    pub(super) fn is_endless(bytes: &[u8]) -> bool {
        let all = Response::all(bytes);
        all.last().is_some_and(|last| last.endless)
    }

    /// Whether nothing more of the first response is to come.
    pub(super) fn is_whole(bytes: &[u8]) -> bool {
        let Some(end) = head_bytes(bytes) else { return false };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        if head.starts_with("http/1.1 1") {
            return false;
        }
        let chunked = head.contains("transfer-encoding: chunked") && bytes.ends_with(b"\r\n0\r\n\r\n");
        chunked || body_bytes(&head).is_some_and(|length| bytes.len() >= end + length) || is_bare(&head)
    }
}

/// Has no body whatever it says.
fn is_bare(head: &str) -> bool {
    ["http/1.1 204", "http/1.1 304"].iter().any(|start| head.starts_with(start))
}

fn head_bytes(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

fn body_bytes(head: &str) -> Option<usize> {
    head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
}
