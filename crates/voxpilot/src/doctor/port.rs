//! The address that a server is to have: free, ours, or somebody else's.

use std::fs;
use std::net::SocketAddr;

use tokio::net::{TcpListener, lookup_host};

use super::network::server_version;
use super::{Check, Verdict};
use crate::client::address::{Address, reachable};
use crate::config::Config;

const NAME: &str = "server";
/// The state of a listening socket in the kernel's table.
const LISTENING: &str = "0A";

pub(super) async fn look(config: &Config) -> Check {
    let bind = &config.bind;
    let ours = Address::new(None, config).url().ok();
    if let Some(url) = &ours {
        return Check::ok(NAME, format!("running on {url}"));
    }
    match TcpListener::bind(bind).await {
        Ok(_) => Check::ok(NAME, format!("not running; {bind} is free, and `voxpilot serve` starts it")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => taken(bind).await,
        Err(error) => Check::bad(NAME, Verdict::Fail, format!("it cannot listen on {bind}: {error}"), "voxpilot serve --bind 127.0.0.1:0"),
    }
}

async fn taken(bind: &str) -> Check {
    let address = lookup_host(bind).await.ok().and_then(|mut found| found.next());
    let version = match address {
        Some(address) => server_version(&reachable(address).to_string()).await,
        None => None,
    };
    let (who, pid) = match address.and_then(listener) {
        Some((pid, name)) => (format!(" (process {pid}, `{name}`)"), Some(pid)),
        None => (String::new(), None),
    };
    let detail = match version {
        Some(version) => format!("{bind} is taken by a VoxPilot server of another data directory{who}, version {version}"),
        None => format!("{bind} is taken by something else{who}"),
    };
    let end = pid.map(|pid| format!("   (or end the other one: kill {pid})")).unwrap_or_default();
    Check::bad(NAME, Verdict::Warn, detail, format!("voxpilot serve --bind 127.0.0.1:0{end}"))
}

/// The process that listens on the port, where it is one that we may look at.
fn listener(address: SocketAddr) -> Option<(i32, String)> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(|table| fs::read_to_string(table).ok());
    let inodes: Vec<String> = tables.flat_map(|table| inodes(&table, address.port())).map(|inode| format!("socket:[{inode}]")).collect();
    let processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let pid = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).find(|pid| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.filter_map(Result::ok)
            .any(|file| fs::read_link(file.path()).is_ok_and(|target| inodes.iter().any(|inode| target.as_os_str() == inode.as_str())))
    })?;
    Some((pid, fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()))
}

/// Of the sockets in the kernel's table that listen on the port.
fn inodes(table: &str, port: u16) -> Vec<String> {
    let wanted = format!(":{port:04X}");
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let listening = lines.filter(|words| words.get(1).is_some_and(|local| local.ends_with(&wanted)) && words.get(3) == Some(&LISTENING));
    listening.filter_map(|words| words.get(9).map(|inode| (*inode).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(bind: &str) -> Config {
        Config { bind: bind.to_owned(), data_dir: "/nowhere".into(), ..Config::default() }
    }

    #[tokio::test]
    async fn a_taken_port_is_told_with_who_has_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let check = look(&config(&address)).await;
        assert_eq!(check.verdict, Verdict::Warn);
        assert!(check.detail.contains("something else") && check.detail.contains(&std::process::id().to_string()), "{check:?}");
        drop(listener);
        let check = look(&config(&address)).await;
        assert!(check.verdict == Verdict::Ok && check.detail.contains("is free"), "{check:?}");
    }

    #[tokio::test]
    async fn an_address_that_is_not_here_fails() {
        assert_eq!(look(&config("192.0.2.1:9")).await.verdict, Verdict::Fail);
    }
}
