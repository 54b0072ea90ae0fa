//! What a server or a runner that was killed has left running.

use agents::Found;

use super::{Check, Verdict, own};
use crate::config::{Config, Sources};
use crate::stop;

pub(super) async fn look(config: &Config, sources: &Sources) -> Vec<Check> {
    let name = "orphans";
    let served = store::in_use(&config.data_dir.join(stop::DATABASE));
    let (mut checks, mut alive, mut remains) = (Vec::new(), 0, 0);
    for found in agents::find_runners(&config.data_dir.join("runners")) {
        let left = agents::left_behind(&found).await;
        match () {
            () if found.runner_alive => alive += 1,
            () if left.is_empty() => remains += 1,
            () => {
                let pids: Vec<String> = left.iter().map(i32::to_string).collect();
                let detail = format!("the runner of {} was killed and its agent still runs: process {}", label(&found), pids.join(", "));
                // A running server ends what it finds; where it has not yet, stopping the server for it would be too much.
                let fix = if served { format!("kill -9 {}", pids.join(" ")) } else { own("stop --all", sources) };
                checks.push(Check::bad(name, Verdict::Warn, detail, fix));
            }
        }
    }
    if alive > 0 && !served {
        let detail = format!("{alive} agent(s) run without a server: `{}` reconnects them", own("serve", sources));
        checks.push(Check::bad(name, Verdict::Warn, detail, own("stop --all", sources)));
    }
    if checks.is_empty() {
        let of_server = if served { format!("none; the server has {alive} agent(s) running") } else { "none".to_owned() };
        let read = if remains > 0 { format!("; what {remains} ended agent(s) left is read by the server") } else { String::new() };
        checks.push(Check::ok(name, of_server + &read));
    }
    checks
}

fn label(found: &Found) -> String {
    found.spec.as_ref().map_or_else(|| found.dir.display().to_string(), |spec| spec.label.clone())
}
