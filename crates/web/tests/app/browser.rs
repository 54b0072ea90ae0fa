//! A browser, as far as access is concerned: its cookie and the key of its page.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use testkit::browser::SignedIn;
use testkit::client::Event;

use crate::rig::{Answer, Rig, SOON, answer};

#[derive(Clone)]
pub(crate) struct Browser<'a> {
    pub rig: &'a Rig,
    pub cookie: String,
    pub key: Option<String>,
}

impl<'a> Browser<'a> {
    /// Signs in with a link of this kind.
    pub(crate) async fn sign_in(rig: &'a Rig, kind: &str) -> Browser<'a> {
        let link = rig.post("/api/devices/link", json!({ "kind": kind })).await;
        assert_eq!(link.status, 201, "{}", link.text);
        let opened = answer(rig.http.get(link.json()["url"].as_str().unwrap())).await;
        assert_eq!(opened.status, 200, "{}", opened.text);
        Browser::signed_in(rig, &opened).unwrap()
    }

    /// As the answer to a sign-in makes it.
    pub(crate) fn signed_in(rig: &'a Rig, answer: &Answer) -> Option<Browser<'a>> {
        let set = answer.headers.get("set-cookie").map(|set| set.to_str().unwrap());
        SignedIn::of(set, &answer.text).map(|SignedIn { cookie, key }| Browser { rig, cookie, key: Some(key) })
    }

    pub(crate) fn with_cookie(rig: &'a Rig, value: &str) -> Browser<'a> {
        let port = rig.base.rsplit(':').next().unwrap();
        Browser { rig, cookie: format!("voxpilot_{port}={value}"), key: None }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request =
            self.rig.http.request(method, format!("{}{path}", self.rig.base)).header("cookie", format!("other=1; {}", self.cookie));
        match &self.key {
            Some(key) => request.header("x-voxpilot-key", key),
            None => request,
        }
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path);
        answer(if let Some(body) = body { request.json(&body) } else { request }).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Itself, as the list of devices shows it.
    pub(crate) async fn device(&self) -> Value {
        let list = self.get("/api/devices").await.json();
        let own: Vec<_> = list["devices"].as_array().unwrap().iter().filter(|device| device["current"] == true).cloned().collect();
        assert_eq!(own.len(), 1, "{list}");
        own[0].clone()
    }

    /// An open event stream that has caught up.
    pub(crate) async fn stream(&self, session: &str) -> reqwest::Response {
        let mut stream = self.request(Method::GET, &format!("/api/sessions/{session}/stream")).send().await.unwrap();
        assert_eq!(stream.status(), 200);
        let mut seen = String::new();
        while !seen.contains("event: ready") {
            seen.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
        }
        stream
    }
}

/// The form of the login page, filled in.
pub(crate) fn with_code(request: RequestBuilder, code: &str) -> RequestBuilder {
    request.header("content-type", "application/x-www-form-urlencoded").body(format!("code={}", code.replace(' ', "+")))
}

/// Likewise with the token.
pub(crate) fn with_token(request: RequestBuilder, token: &str) -> RequestBuilder {
    request.header("content-type", "application/x-www-form-urlencoded").body(format!("code=&token={token}"))
}

/// Reads a stream to its end, which must come.
pub(crate) async fn ends(mut stream: reqwest::Response) {
    let end = async { while stream.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(SOON, end).await.expect("the stream ends");
}

/// The name and value of the cookie that an answer sets.
pub(crate) fn cookie(answer: &Answer) -> Option<String> {
    Some(answer.headers.get("set-cookie")?.to_str().unwrap().split(';').next().unwrap().to_owned())
}

/// The request that waits for an answer, from a stream.
pub(crate) fn asked(event: &Event) -> (String, String) {
    let option = event.data["options"].as_array().unwrap().iter().find(|option| option["kind"] == "allow_once").unwrap();
    (event.data["request_id"].as_str().unwrap().to_owned(), option["option_id"].as_str().unwrap().to_owned())
}
