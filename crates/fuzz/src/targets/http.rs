//! The heads of HTTP requests, on the real server over loopback.
//!
//! An input is what a client writes. `@HOST@` stands for the server's own host and `@TOKEN@` for its access secret.

mod response;
mod server;

use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;
use response::Response;
use server::{SERVER, TOKEN};

pub(super) const TARGET: Target = Target {
    name: "http",
    about: "heads of HTTP requests, on the real server",
    run,
    generate,
    max_bytes: 32 * 1024,
    // Connections end a moment after their last byte, and the store writes down who did what.
    memory: Memory { base: 8 << 20, ..Memory::USUAL },
};

const LANGUAGE: Language = Language {
    words: &[
        "GET / HTTP/1.1\r\n",
        "POST /api/sessions HTTP/1.1\r\n",
        "HEAD /api/health HTTP/1.1\r\n",
        "OPTIONS * HTTP/1.1\r\n",
        "CONNECT @HOST@ HTTP/1.1\r\n",
        "GET http://@HOST@/api/health HTTP/1.1\r\n",
        "GET http://evil.example/api/health HTTP/1.1\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "HTTP/1.0",
        "HTTP/9.9",
        "Host: @HOST@\r\n",
        "Host: evil.example\r\n",
        "Host: @HOST@\r\nHost: evil.example\r\n",
        "Authorization: Bearer @TOKEN@\r\n",
        "Authorization: Bearer wrong\r\n",
        "Cookie: voxpilot_session=x\r\n",
        "Content-Length: 0\r\n",
        "Content-Length: 5\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Content-Type: application/json\r\n",
        "Accept-Encoding: gzip\r\n",
        "Connection: close\r\n",
        "Connection: upgrade\r\nUpgrade: h2c\r\n",
        "Expect: 100-continue\r\n",
        "Origin: http://@HOST@\r\n",
        "Origin: null\r\n",
        "X-Forwarded-For: 1.2.3.4\r\n",
        "X-Forwarded-Host: evil.example\r\n",
        "Last-Event-ID: 5\r\n",
        "Range: bytes=0-0\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "\r\n\r\n",
        "%2e%2e%2f",
        "/../../etc/passwd",
        "/api/sessions/",
        "/api/stream?sessions=",
        "?link=",
        "%00",
        "%ff",
        "/mcp",
        "/metrics",
        "/login",
        ": ",
        "\n",
        "0\r\n\r\n",
    ],
    lines: true,
    json: false,
    text: true,
};

/// What anybody may fetch, however they come. Everything else answers with what it is only to whoever is let in.
const OPEN_PATHS: [&str; 7] = ["/login", "/faces/", "/manifest.webmanifest", "/sw.js", "/favicon.ico", "/icons/", "/api/health"];

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

fn run(input: &[u8], features: &mut Features) {
    let request = SERVER.filled_in(input);
    let complete = is_complete(&request);
    let Some(answered) = SERVER.exchange(&request, complete) else {
        panic!("the server neither answers nor closes the connection");
    };
    let responses = Response::all(&answered);
    features.note_size("responses", responses.len());
    for response in &responses {
        assert!(response.status < 500, "the server answers with {}", response.status);
        features.note((response.status, &response.code));
    }
    if let Some(first) = responses.first().filter(|response| response.status >= 200) {
        hold(&request, first);
    }
}

/// What holds for the first answer, by what the head says.
fn hold(request: &[u8], response: &Response) {
    let Some(head) = Head::parse(request) else { return };
    let welcomed = response.status < 300;
    assert!(!(welcomed && head.hosts.len() > 1), "a request with {} Host headers is answered with {}", head.hosts.len(), response.status);
    let open = OPEN_PATHS.iter().any(|path| head.path.starts_with(path));
    let knows_secret = request.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
    assert!(!welcomed || open || knows_secret, "{} is answered with {} to a stranger", head.path, response.status);
}

/// Whether the server has all that it waits for: a whole head without a body, or nothing that could be a head.
fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let has_body = ["content-length", "transfer-encoding", "expect", "upgrade"].iter().any(|header| text.contains(header));
    !has_body && text.trim_start().contains("\r\n\r\n")
}

/// As much of a head as there is no doubt about: where anything is unusual, nothing is concluded from it.
struct Head {
    path: String,
    hosts: Vec<String>,
}

impl Head {
    fn parse(request: &[u8]) -> Option<Head> {
        let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
        let text = std::str::from_utf8(&request[..end]).ok()?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (_method, path, version) = (words.next()?, words.next()?, words.next()?);
        if version != "HTTP/1.1" || !path.starts_with('/') || text.replace("\r\n", "").contains(['\r', '\n']) {
            return None;
        }
        let fields: Vec<(&str, &str)> = lines.map(|line| line.split_once(':')).collect::<Option<_>>()?;
        let hosts = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.trim().to_owned());
        Some(Head { path: path.to_owned(), hosts: hosts.collect() })
    }
}
