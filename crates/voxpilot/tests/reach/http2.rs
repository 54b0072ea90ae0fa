//! What the server says of itself to a client of HTTP/2, byte by byte.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use testkit::server::{Rig, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::SOON;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// A frame without content: no settings of our own.
const NO_SETTINGS: [u8; 9] = [0, 0, 0, SETTINGS, 0, 0, 0, 0, 0];
const SETTINGS: u8 = 4;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const MAX_HEADER_LIST_SIZE: u16 = 6;

async fn connect(server: &Server) -> TlsStream<TcpStream> {
    let pem = std::fs::read(server.rig().data_dir().join("tls/certificate.pem")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(tls::provider());
    let mut config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(server.base.trim_start_matches("https://")).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("127.0.0.1").unwrap(), stream).await.unwrap()
}

#[tokio::test]
async fn an_http2_connection_says_its_bounds() {
    let server = Rig::default().demo_agent().env("VOXPILOT_TLS", "self-signed").start().await;
    let mut stream = connect(&server).await;
    stream.write_all(&[PREFACE, &NO_SETTINGS].concat()).await.unwrap();
    let mut head = [0; 9];
    timeout(SOON, stream.read_exact(&mut head)).await.expect("the server speaks").unwrap();
    assert_eq!(head[3], SETTINGS, "{head:?}");
    let mut settings = vec![0; usize::from(head[1]) * 256 + usize::from(head[2])];
    timeout(SOON, stream.read_exact(&mut settings)).await.expect("the server goes on").unwrap();
    let pairs = settings.chunks_exact(6).map(|pair| {
        let (name, value) = pair.split_at(2);
        (u16::from_be_bytes(name.try_into().unwrap()), u32::from_be_bytes(value.try_into().unwrap()))
    });
    let settings: HashMap<u16, u32> = pairs.collect();
    assert_eq!(settings.get(&MAX_CONCURRENT_STREAMS), Some(&100), "{settings:?}");
    assert_eq!(settings.get(&MAX_HEADER_LIST_SIZE), Some(&(64 * 1024)), "{settings:?}");
    server.end().await;
}
