//! Names that are exchanged while they are used: whatever is swapped in between two looks, nothing outside the work directory is
//! read or written. Each case is also run without anybody interfering.
#![allow(clippy::unwrap_used)]

mod cases;
mod disk;
mod repositories;
mod swap;

use cases::CASES;
use disk::Disk;
use swap::Swap;

/// So often each operation is tried on each case, unless time is up; then the next case has its turn.
const ROUNDS: usize = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nothing_outside_is_read_or_written_while_names_are_exchanged() {
    assert!(CASES.len() >= 20);
    let (mut exchanges, mut operations) = (0, 0);
    for case in CASES {
        let disk = Disk::new(case);
        let swap = Swap::start(&disk.work, case.pair);
        for _ in 0..ROUNDS {
            disk.use_all(case).await;
            operations += disk::OPERATIONS;
            if swap.is_over() {
                break;
            }
        }
        exchanges += swap.stop();
        disk.is_untouched(case.name);
    }
    println!("{operations} operations during {exchanges} exchanges");
    assert!(operations > 1000 && exchanges > 1000, "{operations} operations during {exchanges} exchanges prove nothing");
}

#[tokio::test]
async fn the_same_paths_are_kept_inside_when_nobody_interferes() {
    for case in CASES {
        let disk = Disk::new(case);
        for half in 0..2 {
            disk.use_all(case).await;
            disk.is_untouched(&format!("{}, half {half}", case.name));
            swap::exchange(&disk.work, case.pair);
        }
    }
}
