//! Much, and fast: nothing is lost, and the rate is printed for whoever looks.

use std::time::Instant;

use crate::rig::{Rig, assert_dense, lines, read_lines, within};

#[tokio::test]
async fn a_flood_arrives_whole_and_in_order() {
    const LINES: usize = 600_000;
    let line = "x".repeat(199);
    let rig = Rig::script(&format!("read go; yes {line} | head -n {LINES}; exec cat")).start().await;
    let (handle, mut records) = rig.attach(0).await;
    within(handle.write(uuid::Uuid::new_v4(), b"go".to_vec())).await.unwrap();
    let begun = Instant::now();
    let seen = read_lines(&mut records, LINES).await;
    let rate = LINES as f64 / begun.elapsed().as_secs_f64();
    assert_dense(&seen, 1);
    println!("{rate:.0} lines/s; runner {} ticks of 10 ms for {LINES} lines", ticks(&rig));
    assert!(rig.resident_kb() < 8 * 1024, "{} kB", rig.resident_kb());
    within(handle.stop()).await.unwrap();
}

#[tokio::test]
async fn servers_that_come_and_go_in_a_flood_see_every_line_once() {
    const LINES: usize = 300_000;
    let rig = Rig::script(&format!("read go; seq 1 {LINES}; exec cat")).start().await;
    let mut seen = Vec::new();
    let go = uuid::Uuid::new_v4();
    while seen.len() <= LINES {
        let cursor = seen.len() as u64;
        let (handle, mut records) = rig.attach(cursor).await;
        within(handle.write(go, b"go".to_vec())).await.unwrap();
        for _ in 0..1 + seen.len() % 7 {
            seen.extend(within(records.next()).await.unwrap().unwrap());
            if seen.len() > LINES {
                break;
            }
        }
    }
    assert_dense(&seen, 1);
    let expected: Vec<String> = (1..=LINES).map(|number| number.to_string()).collect();
    assert_eq!(lines(&seen), expected);
}

#[tokio::test]
async fn a_line_by_line_flood_costs_little() {
    // Each line is a write of its own, as real agents do it.
    let script = "read go; i=0; while [ $i -lt 50000 ]; do echo \"line $i\"; i=$((i+1)); done; exec cat";
    let rig = Rig::script(script).start().await;
    let (handle, mut records) = rig.attach(0).await;
    within(handle.write(uuid::Uuid::new_v4(), b"go".to_vec())).await.unwrap();
    let begun = Instant::now();
    assert_dense(&read_lines(&mut records, 50_000).await, 1);
    let rate = 50_000.0 / begun.elapsed().as_secs_f64();
    println!("{rate:.0} single writes/s; runner {} ticks of 10 ms", ticks(&rig));
    assert!(ticks(&rig) < 50, "far less than one wake-up a line");
}

/// Processor time the runner has used.
fn ticks(rig: &Rig) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", rig.identity().runner.pid)).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
