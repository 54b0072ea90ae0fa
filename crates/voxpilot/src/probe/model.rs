//! The model behind an agent that is probed: it listens on this machine only and says what the words of the probe ask for.
//!
//! It speaks the interfaces that agents can be pointed at: OpenAI's chat completions and
//! responses, Anthropic's messages, and Gemini's.

mod answer;
mod http;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use answer::Asked;
use wire::Answer;

/// So many requests are answered at once.
const CONNECTIONS: usize = 32;

pub(super) struct Model {
    address: SocketAddr,
    /// Ends with it.
    _listening: JoinSet<()>,
}

impl Model {
    pub(super) async fn start() -> io::Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mut listening = JoinSet::new();
        listening.spawn(listen(listener));
        Ok(Model { address, _listening: listening })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn listen(listener: TcpListener) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut answering = JoinSet::new();
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else { continue };
        answering.spawn(async move {
            // An agent that goes away in the middle is what is wanted here.
            if let Err(error) = converse(stream).await {
                tracing::debug!(%error, "a request to the scripted model ended early");
            }
            drop(place);
        });
        while answering.try_join_next().is_some() {}
    }
}

/// One request each: the answer says that the connection ends with it.
async fn converse(mut stream: TcpStream) -> io::Result<()> {
    let Some(request) = http::read(&mut stream).await? else { return Ok(()) };
    let body = serde_json::from_slice(&request.body).unwrap_or_default();
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", path) if path.ends_with("/models") => http::json(&mut stream, &answer::models()).await,
        ("POST", path) if path.ends_with("/chat/completions") => reply(&mut stream, &Asked::by_chat(&body)).await,
        ("POST", path) if path.ends_with("/messages") => reply(&mut stream, &Asked::by_anthropic(&body)).await,
        ("POST", path) if path.ends_with("/count_tokens") => http::json(&mut stream, &serde_json::json!({ "input_tokens": 10 })).await,
        ("POST", path) if path.ends_with("/responses") => reply(&mut stream, &Asked::by_responses(&body)).await,
        ("POST", path) if path.ends_with(":streamGenerateContent") => reply(&mut stream, &Asked::by_gemini(&body, true)).await,
        ("POST", path) if path.ends_with(":generateContent") => reply(&mut stream, &Asked::by_gemini(&body, false)).await,
        ("POST", path) if path.ends_with(":countTokens") => http::json(&mut stream, &serde_json::json!({ "totalTokens": 10 })).await,
        _ => http::nothing(&mut stream).await,
    }
}

async fn reply(stream: &mut TcpStream, asked: &Asked) -> io::Result<()> {
    match asked.answer() {
        Answer::Whole(body) => http::json(stream, &body).await,
        Answer::Stream(events) => {
            http::begin_stream(stream).await?;
            for event in events {
                http::event(stream, &event).await?;
            }
            Ok(())
        }
        Answer::Slowly { opening, piece } => {
            http::begin_stream(stream).await?;
            for event in opening {
                http::event(stream, &event).await?;
            }
            for _ in 0..answer::SLOW_PIECES {
                http::event(stream, &piece).await?;
                tokio::time::sleep(answer::SLOW_PACE).await;
            }
            Ok(())
        }
    }
}
