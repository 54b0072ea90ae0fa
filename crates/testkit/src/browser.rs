//! What a browser keeps of a sign-in: the cookie of its device, and the key that its page is given along with it.

use reqwest::RequestBuilder;

#[derive(Clone, Debug)]
pub struct SignedIn {
    /// Name and value.
    pub cookie: String,
    pub key: String,
}

impl SignedIn {
    /// Of what the sign-in was answered with: the cookie that it sets, and the page. `None` where nobody was signed in.
    pub fn of(set_cookie: Option<&str>, page: &str) -> Option<SignedIn> {
        let cookie = set_cookie?.split(';').next()?.to_owned();
        let (_, rest) = page.split_once("<meta name=\"voxpilot-key\" content=\"")?;
        Some(SignedIn { cookie, key: rest.split_once('"')?.0.to_owned() })
    }

    /// Opens a link.
    pub async fn by_link(http: &reqwest::Client, url: &str) -> Option<SignedIn> {
        let answer = http.get(url).send().await.expect("the server answers");
        let set = answer.headers().get("set-cookie").map(|set| set.to_str().expect("a cookie is plain text").to_owned());
        SignedIn::of(set.as_deref(), &answer.text().await.expect("the page is whole"))
    }

    /// The request as the page of this device sends it.
    pub fn sends(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("cookie", &self.cookie).header("x-voxpilot-key", &self.key)
    }
}
