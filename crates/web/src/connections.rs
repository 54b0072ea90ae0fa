//! The open connections: how many there may be, which of them makes room for another, and when one has waited long enough.

mod activity;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::limits::{Limits, owner};
pub(crate) use activity::{Activity, Doing};

/// Cloning shares.
#[derive(Clone, Default)]
pub(crate) struct Connections {
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    next: u64,
    entries: HashMap<u64, Entry>,
}

struct Entry {
    owner: IpAddr,
    activity: Arc<Activity>,
    evicted: CancellationToken,
}

/// One connection's place among them, until it is dropped.
pub(crate) struct Place {
    id: u64,
    connections: Connections,
    pub(crate) activity: Arc<Activity>,
    pub(crate) evicted: CancellationToken,
}

impl Connections {
    /// A place for a connection from `address`. Where there is none left, the one that has waited longest for its peer goes: of the
    /// same address where that has its share, else of all. `None` where all of them are at work.
    pub(crate) fn admit(&self, address: IpAddr, is_proxy: bool, limits: &Limits) -> Option<Place> {
        let owner = owner(address);
        let share = match owner {
            // Everybody comes from there.
            _ if is_proxy => limits.connections,
            owner if owner.is_loopback() => limits.connections_of_loopback,
            _ => limits.connections_per_address,
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.entries.values().filter(|entry| entry.owner == owner).count() >= share {
            open.make_room(|entry| entry.owner == owner)?;
        }
        if open.entries.len() >= limits.connections {
            open.make_room(|_| true)?;
        }
        let id = open.next;
        open.next += 1;
        let (activity, evicted) = (Arc::<Activity>::default(), CancellationToken::new());
        open.entries.insert(id, Entry { owner, activity: activity.clone(), evicted: evicted.clone() });
        Some(Place { id, connections: self.clone(), activity, evicted })
    }

    /// Ends the one that has waited longest, for a system that has no more to give.
    pub(crate) fn make_room(&self) {
        let _evicted = self.open.lock().unwrap_or_else(PoisonError::into_inner).make_room(|_| true);
    }
}

impl Open {
    fn make_room(&mut self, of: impl Fn(&Entry) -> bool) -> Option<()> {
        let waiting = self.entries.iter().filter(|(_, entry)| of(entry));
        let waiting = waiting.filter_map(|(id, entry)| Some((entry.activity.waits_since()?, *id)));
        let (_, longest) = waiting.min()?;
        self.entries.remove(&longest)?.evicted.cancel();
        Some(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open.lock().unwrap_or_else(PoisonError::into_inner).entries.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { connections: 4, connections_per_address: 2, connections_of_loopback: 3, ..Limits::default() }
    }

    fn admit(connections: &Connections, address: &str) -> Option<Place> {
        connections.admit(address.parse().unwrap(), false, &limits())
    }

    #[test]
    fn an_address_beyond_its_share_loses_its_own_longest_waiting_connection() {
        let connections = Connections::default();
        let other = admit(&connections, "192.0.2.9").unwrap();
        let (first, second) = (admit(&connections, "192.0.2.1").unwrap(), admit(&connections, "192.0.2.1").unwrap());
        let third = admit(&connections, "192.0.2.1").unwrap();
        assert!(first.evicted.is_cancelled() && !second.evicted.is_cancelled() && !third.evicted.is_cancelled());
        assert!(!other.evicted.is_cancelled());
    }

    #[test]
    fn one_at_work_is_never_evicted_and_where_all_work_nobody_is_let_in() {
        let connections = Connections::default();
        let (first, second) = (admit(&connections, "192.0.2.1").unwrap(), admit(&connections, "192.0.2.1").unwrap());
        let handling = first.activity.handle();
        let third = admit(&connections, "192.0.2.1").unwrap();
        assert!(!first.evicted.is_cancelled() && second.evicted.is_cancelled());
        let _streaming = third.activity.stream();
        assert!(admit(&connections, "192.0.2.1").is_none());
        // What waits for the rest of a body waits for its peer.
        let _receiving = first.activity.receive();
        assert!(admit(&connections, "192.0.2.1").is_some());
        assert!(first.evicted.is_cancelled());
        drop(handling);
    }

    #[test]
    fn the_whole_is_bounded_also_for_this_machine_and_for_a_proxy() {
        let connections = Connections::default();
        let own: Vec<_> = (0..4).map(|_| admit(&connections, "127.0.0.1").unwrap()).collect();
        assert_eq!(own.iter().filter(|place| place.evicted.is_cancelled()).count(), 1);
        let many: Vec<_> = (0..9).map(|_| connections.admit("192.0.2.7".parse().unwrap(), true, &limits()).unwrap()).collect();
        let open = connections.open.lock().unwrap().entries.len();
        assert_eq!(open, 4);
        drop((own, many));
        assert!(connections.open.lock().unwrap().entries.is_empty());
    }
}
