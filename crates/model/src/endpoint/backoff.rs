//! How long to wait before the next try, if there is to be one. Pure but for the jitter.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::fault::Fault;

/// Nobody watching a conversation waits longer than this for one more try.
const LONGEST: Duration = Duration::from_secs(60);

/// `None` means that waiting does not help. `attempt` is the number of the try that failed, from 1.
pub(super) fn pause(fault: &Fault, attempt: u32, first_backoff_ms: u64) -> Option<Duration> {
    match fault {
        Fault::RateLimited { retry_after_s: Some(seconds), .. } => Some(Duration::from_secs(*seconds).min(LONGEST)),
        Fault::RateLimited { .. } | Fault::Unavailable { .. } | Fault::Refused { .. } | Fault::Cut { .. } => {
            Some(jittered(doubled(first_backoff_ms, attempt)))
        }
        // A stall has already cost its patience, and the rest would only fail again.
        Fault::Stalled { .. }
        | Fault::Unauthorized { .. }
        | Fault::BadRequest { .. }
        | Fault::Malformed { .. }
        | Fault::Redirected { .. }
        | Fault::TooLong { .. }
        | Fault::Empty { .. } => None,
    }
}

fn doubled(first_backoff_ms: u64, attempt: u32) -> Duration {
    let factor = 2_u64.saturating_pow(attempt.saturating_sub(1));
    Duration::from_millis(first_backoff_ms.saturating_mul(factor)).min(LONGEST)
}

/// Between half and all of it, so that clients which failed together do not come back together.
fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(()) % 1024;
    let share = u32::try_from(random).expect("a number below 1024 fits");
    pause / 2 + pause * share / 2048
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(retry_after_s: Option<u64>) -> Fault {
        Fault::RateLimited { host: "h".to_owned(), retry_after_s }
    }

    #[test]
    fn retry_after_is_kept_to_the_second_and_bounded() {
        assert_eq!(pause(&limited(Some(7)), 1, 500), Some(Duration::from_secs(7)));
        assert_eq!(pause(&limited(Some(7)), 3, 500), Some(Duration::from_secs(7)));
        assert_eq!(pause(&limited(Some(86_400)), 1, 500), Some(LONGEST));
    }

    #[test]
    fn pauses_double_with_jitter_and_are_bounded() {
        for (attempt, full_ms) in [(1, 500), (2, 1000), (3, 2000), (40, 60_000), (u32::MAX, 60_000)] {
            for _ in 0..50 {
                let pause = pause(&limited(None), attempt, 500).expect("a rate limit is waited for");
                let range = Duration::from_millis(full_ms / 2)..=Duration::from_millis(full_ms);
                assert!(range.contains(&pause), "{attempt}: {pause:?}");
            }
        }
    }

    #[test]
    fn jitter_does_vary() {
        let pauses: std::collections::HashSet<_> = (0..50).filter_map(|_| pause(&limited(None), 1, 60_000)).collect();
        assert!(pauses.len() > 1);
    }

    #[test]
    fn what_cannot_succeed_is_not_repeated() {
        let host = || "h".to_owned();
        let empty = Fault::Empty { host: host() };
        let stalled = Fault::Stalled { host: host(), silent_s: 1 };
        assert_eq!(pause(&empty, 1, 500), None);
        assert_eq!(pause(&stalled, 1, 500), None);
    }
}
