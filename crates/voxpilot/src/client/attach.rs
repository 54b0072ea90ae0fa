//! `voxpilot attach`: follows a session until it is interrupted or the session is deleted.

use std::process::ExitCode;

use anyhow::Result;

use super::http::Api;
use super::print::Printer;
use super::stream::Stream;
use super::{Format, resolve};

pub(super) async fn run(api: &Api, format: Format, session: Option<String>) -> Result<ExitCode> {
    let session = resolve(api, session.as_deref()).await?;
    let mut stream = Stream::open(api, session["id"].as_str().unwrap_or_default()).await?;
    let mut printer = Printer::new(format, &session);
    loop {
        printer.event(&stream.next().await?)?;
    }
}
