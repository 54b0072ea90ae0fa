//! How many of something each address has taken. What is taken is given back when it is dropped.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct Shares {
    all: usize,
    each: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

pub(super) struct Share {
    shares: Arc<Shares>,
    owner: IpAddr,
}

impl Shares {
    pub(super) fn new(all: usize, each: usize) -> Shares {
        Shares { all, each, taken: Mutex::default() }
    }

    /// This machine is bound by the whole alone: whoever comes through a tunnel comes from here.
    pub(super) fn take(self: &Arc<Shares>, address: IpAddr) -> Option<Share> {
        let owner = owner(address);
        let each = if owner.is_loopback() { usize::MAX } else { self.each };
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(&owner).copied().unwrap_or(0);
        if own >= each || taken.values().sum::<usize>() >= self.all {
            return None;
        }
        taken.insert(owner, own + 1);
        Some(Share { shares: self.clone(), owner })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.owner);
            }
        }
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
    use super::*;

    #[test]
    fn an_address_has_its_share_and_all_together_have_the_whole() {
        let shares = Arc::new(Shares::new(4, 2));
        let take = |address: &str| shares.take(address.parse().unwrap());
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
        let shares = Arc::new(Shares::new(9, 1));
        let _one = shares.take("2001:db8::1".parse().unwrap()).unwrap();
        assert!(shares.take("2001:db8::ffff:1".parse().unwrap()).is_none());
        assert!(shares.take("2001:db8:0:1::1".parse().unwrap()).is_some());
    }
}
