//! What is to be reached over the network: the model's endpoint, and whatever answers on an address.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Check, Verdict};
use crate::config::Config;

const DEADLINE: Duration = Duration::from_secs(5);

/// No answer to a health check is longer.
const ANSWER_MAX: u64 = 16 * 1024;

pub(super) async fn endpoint(config: &Config) -> Check {
    let name = "model endpoint";
    let Some(url) = &config.model_base_url else {
        let detail = match &config.model_provider {
            Some(provider) => format!("the preset {provider} (not tried)"),
            None => "none needed: the model is relay".to_owned(),
        };
        return Check::ok(name, detail);
    };
    let Some(address) = address(url) else {
        return Check::bad(name, Verdict::Fail, format!("{url} names no host"), "set VOXPILOT_MODEL_BASE_URL");
    };
    match connect(&address).await {
        Ok(_) => Check::ok(name, format!("{address} can be reached")),
        Err(why) => {
            let fix = format!("start the endpoint, or correct VOXPILOT_MODEL_BASE_URL; try: curl -v {url}");
            Check::bad(name, Verdict::Fail, format!("{address} cannot be reached: {why}"), fix)
        }
    }
}

/// The version of the VoxPilot server that answers there without encryption; none where it is something else.
pub(super) async fn server_version(address: &str) -> Option<String> {
    let mut stream = connect(address).await.ok()?;
    timeout(DEADLINE, health(&mut stream, address)).await.ok()?
}

async fn connect(address: &str) -> Result<TcpStream, String> {
    match timeout(DEADLINE, TcpStream::connect(address)).await {
        Ok(connected) => connected.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", DEADLINE.as_secs())),
    }
}

/// The version that a VoxPilot server gives; None if it is not one.
async fn health(stream: &mut TcpStream, address: &str) -> Option<String> {
    let request = format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if !head.starts_with("HTTP/1.1 200") {
        return None;
    }
    // The braces, not the whole body: it may come in chunks.
    let json = body.get(body.find('{')?..=body.rfind('}')?)?;
    let json: serde_json::Value = serde_json::from_str(json).ok()?;
    Some(json.get("version")?.as_str()?.to_owned())
}

/// `host:port` of an http or https URL.
fn address(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "https" { 443 } else { 80 };
    Some(if has_port { authority.to_owned() } else { format!("{authority}:{port}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    #[test]
    fn the_address_of_a_url() {
        for (url, expected) in [
            ("http://127.0.0.1:11434/v1", "127.0.0.1:11434"),
            ("https://models.example/inference", "models.example:443"),
            ("http://models.example?x=1", "models.example:80"),
            ("https://[::1]/v1", "[::1]:443"),
            ("https://[::1]:8443/v1", "[::1]:8443"),
        ] {
            assert_eq!(address(url).as_deref(), Some(expected), "{url}");
        }
    }

    /// A server that gives one connection this answer, and its address.
    async fn answering(answer: &'static str) -> (JoinSet<()>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        (tasks, address)
    }

    #[tokio::test]
    async fn a_running_server_is_told_from_another_program() {
        let (_tasks, address) = answering("HTTP/1.1 200 OK\r\ncontent-length: 33\r\n\r\n{\"status\":\"ok\",\"version\":\"1.2.3\"}").await;
        assert_eq!(server_version(&address).await.as_deref(), Some("1.2.3"));
        let (_tasks, address) = answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
        assert_eq!(server_version(&address).await, None);
        let (_tasks, address) = answering("SSH-2.0-Other\r\n").await;
        assert_eq!(server_version(&address).await, None);
    }

    #[tokio::test]
    async fn a_closed_port_is_a_failure_for_an_endpoint() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let config = Config { model_base_url: Some(format!("http://{address}/v1")), ..Config::default() };
        assert_eq!(endpoint(&config).await.verdict, Verdict::Ok);
        drop(listener);
        let check = endpoint(&config).await;
        assert!(check.verdict == Verdict::Fail && check.detail.contains(&address), "{check:?}");
        assert_eq!(endpoint(&Config::default()).await.verdict, Verdict::Ok);
    }
}
