//! How many of something each holder has taken. What is taken is given back when it is dropped.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::device::DeviceKind;
use domain::ids::DeviceId;

use crate::access::Caller;
use crate::peer::Peer;

/// Whose share something counts against. Strangers count by their address, so nobody who is signed in is held up by them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Holder {
    Stranger(IpAddr),
    /// A program with the server's own token.
    Token(IpAddr),
    /// A full device.
    Full(DeviceId),
    ReadOnly(DeviceId),
    /// All programs together that have the token for agents, or the one for metrics.
    AgentsToken,
    MetricsToken,
}

impl Holder {
    pub(crate) fn stranger(address: IpAddr) -> Holder {
        Holder::Stranger(owner(address))
    }

    /// `None` for a caller who may be anybody with a stolen cookie.
    pub(crate) fn of(caller: &Caller, peer: Peer) -> Option<Holder> {
        match caller {
            Caller::Token => Some(Holder::Token(owner(peer.ip))),
            Caller::Agent => Some(Holder::AgentsToken),
            Caller::Scraper => Some(Holder::MetricsToken),
            Caller::Device { proven: false, .. } => None,
            Caller::Device { device, .. } => Some(match device.row.kind {
                DeviceKind::Full => Holder::Full(device.row.id),
                DeviceKind::ReadOnly => Holder::ReadOnly(device.row.id),
            }),
        }
    }

    /// Not the owner: these leave a reserve for the owner, however many they are.
    fn is_restricted(self) -> bool {
        matches!(self, Holder::ReadOnly(_) | Holder::AgentsToken | Holder::MetricsToken)
    }
}

/// How much there is, for whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) all: usize,
    /// All restricted holders together.
    pub(super) restricted: usize,
    pub(super) each_address: usize,
    /// Each device, and each token other than the server's own.
    pub(super) each_device: usize,
}

pub(super) struct Shares {
    sizes: Sizes,
    taken: Mutex<HashMap<Holder, usize>>,
}

pub(super) struct Share {
    shares: Arc<Shares>,
    holder: Holder,
}

impl Shares {
    pub(super) fn new(sizes: Sizes) -> Shares {
        Shares { sizes, taken: Mutex::default() }
    }

    pub(super) fn take(self: &Arc<Shares>, holder: Holder) -> Option<Share> {
        let sizes = self.sizes;
        let each = match holder {
            // This machine is bound by the whole alone: whoever comes through a tunnel comes from here.
            Holder::Stranger(address) | Holder::Token(address) if address.is_loopback() => usize::MAX,
            Holder::Stranger(_) | Holder::Token(_) => sizes.each_address,
            Holder::Full(_) | Holder::ReadOnly(_) | Holder::AgentsToken | Holder::MetricsToken => sizes.each_device,
        };
        let mut taken = self.taken();
        let own = taken.get(&holder).copied().unwrap_or(0);
        let restricted = || taken.iter().filter(|(holder, _)| holder.is_restricted()).map(|(_, count)| count).sum::<usize>();
        let full = own >= each || taken.values().sum::<usize>() >= sizes.all || holder.is_restricted() && restricted() >= sizes.restricted;
        if full {
            return None;
        }
        taken.insert(holder, own + 1);
        drop(taken);
        Some(Share { shares: self.clone(), holder })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken();
        if let Some(own) = taken.get_mut(&self.holder) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.holder);
            }
        }
    }
}

/// The share that a request counts against: a stranger's, until it is known who asks. Goes along with the request; cloning shares.
#[derive(Clone)]
pub(crate) struct Slot {
    requests: Arc<Shares>,
    held: Arc<Mutex<Option<Share>>>,
}

impl Slot {
    /// Empty where the address has no share left: whoever is signed in gets one all the same.
    pub(super) fn of_stranger(requests: &Arc<Shares>, address: IpAddr) -> Slot {
        Slot { requests: requests.clone(), held: Arc::new(Mutex::new(requests.take(Holder::stranger(address)))) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held().is_none()
    }

    /// Counts the request against this holder instead. Says whether there was a share left.
    pub(crate) fn pass_to(&self, holder: Holder) -> bool {
        let share = self.requests.take(holder);
        let taken = share.is_some();
        *self.held() = share;
        taken
    }

    pub(super) fn holder(&self) -> Option<Holder> {
        self.held().as_ref().map(|share| share.holder)
    }

    fn held(&self) -> MutexGuard<'_, Option<Share>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who an address counts as. Of IPv6, whoever has one address has the whole network of 64 bits.
pub(crate) fn owner(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) if !six.is_loopback() => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const SIZES: Sizes = Sizes { all: 4, restricted: 3, each_address: 2, each_device: 2 };

    fn shares(sizes: Sizes) -> Arc<Shares> {
        Arc::new(Shares::new(sizes))
    }

    fn device(number: u128) -> DeviceId {
        DeviceId(Uuid::from_u128(number))
    }

    #[test]
    fn an_address_has_its_share_and_all_together_have_the_whole() {
        let shares = shares(SIZES);
        let take = |address: &str| shares.take(Holder::stranger(address.parse().unwrap()));
        let (first, second) = (take("192.0.2.1").unwrap(), take("::ffff:192.0.2.1").unwrap());
        assert!(take("192.0.2.1").is_none());
        drop(first);
        let again = take("192.0.2.1").unwrap();
        let (six, network) = (take("2001:db8::1").unwrap(), take("2001:db8::2").unwrap());
        assert!(take("127.0.0.1").is_none());
        drop((second, again, six, network));
        let own: Vec<_> = (0..4).map(|_| take("127.0.0.1").unwrap()).collect();
        assert!(take("192.0.2.1").is_none());
        drop(own);
        assert!(shares.taken.lock().unwrap().is_empty());
    }

    #[test]
    fn a_network_of_ipv6_is_one_peer() {
        let shares = shares(Sizes { all: 9, each_address: 1, ..SIZES });
        let take = |address: &str| shares.take(Holder::stranger(address.parse().unwrap()));
        let _one = take("2001:db8::1").unwrap();
        assert!(take("2001:db8::ffff:1").is_none());
        assert!(take("2001:db8:0:1::1").is_some());
    }

    #[test]
    fn read_only_devices_and_other_tokens_leave_a_reserve() {
        let shares = shares(SIZES);
        let take = |holder| shares.take(holder);
        let _viewing = [take(Holder::ReadOnly(device(1))).unwrap(), take(Holder::ReadOnly(device(1))).unwrap()];
        assert!(take(Holder::ReadOnly(device(1))).is_none(), "its own share");
        let _agents = take(Holder::AgentsToken).unwrap();
        assert!(take(Holder::ReadOnly(device(2))).is_none() && take(Holder::MetricsToken).is_none(), "all of them together");
        assert!(take(Holder::Full(device(3))).is_some());
        assert!(take(Holder::Token("192.0.2.1".parse().unwrap())).is_some());
    }

    #[test]
    fn who_is_known_does_not_count_against_an_address_any_more() {
        let requests = shares(Sizes { all: 99, ..SIZES });
        let address = "192.0.2.1".parse().unwrap();
        let slots = [Slot::of_stranger(&requests, address), Slot::of_stranger(&requests, address)];
        let third = Slot::of_stranger(&requests, address);
        assert!(third.is_empty() && third.pass_to(Holder::Full(device(1))) && !third.is_empty());
        assert!(slots[0].pass_to(Holder::ReadOnly(device(2))));
        assert!(!Slot::of_stranger(&requests, address).is_empty(), "a place of the address is free again");
    }
}
