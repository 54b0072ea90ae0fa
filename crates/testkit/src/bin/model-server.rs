//! The scripted model server as a program, for browser tests and for trying things by hand:
//! `model-server --port 0 --script file.json`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use testkit::model_server::{ModelServer, Reply, Rules, Script};

const USAGE: &str = "usage: model-server [--port N] [--script FILE]";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut port = 0;
    let mut file = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--port" => port = value()?.parse().context("--port is not a port number")?,
            "--script" => file = Some(PathBuf::from(value()?)),
            other => bail!("unknown argument {other}\n{USAGE}"),
        }
    }
    let script = match file {
        Some(path) => Script::from(Rules::from_file(&path)?),
        None => Script::rules(|request| Reply::text(&format!("you said: {}", request.last_user()))),
    };
    let server = ModelServer::start_on(port, script).with_context(|| format!("cannot listen on port {port}"))?;
    println!("listening on {}", server.base_url());
    tokio::signal::ctrl_c().await.context("cannot wait for the signal to stop")?;
    Ok(())
}
