//! How often one may be wrong: a bucket of tries for each address, and one for all of them together.
//!
//! It counts what can be guessed: codes and the token. A link or a device's own secret cannot, so those are never held up, and
//! whoever has one is not locked out by strangers.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

/// How many wrong tries an address has at once, and how long until it has one more.
const OWN: Rate = Rate { burst: 20, every: Duration::from_secs(3) };
/// The same for everybody who is not on this machine: many addresses make no faster guesser.
const ALL: Rate = Rate { burst: 100, every: Duration::from_secs(1) };
/// How many addresses are remembered.
const ADDRESSES: usize = 1024;
/// Said once in so long, so that strangers cannot fill the audit log.
const TELL_EVERY: Duration = Duration::from_secs(600);

#[derive(Clone, Copy)]
struct Rate {
    burst: u32,
    every: Duration,
}

/// Full when it was never used: what is kept is the moment at which it is full again.
#[derive(Clone, Copy)]
struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// How long until one more may be taken.
    fn wait(self, rate: Rate, now: Instant) -> Duration {
        let used = self.full_at.saturating_duration_since(now);
        used.saturating_sub(rate.every * (rate.burst - 1))
    }

    fn take(&mut self, rate: Rate, now: Instant) {
        self.full_at = self.full_at.max(now) + rate.every;
    }
}

pub(crate) struct Throttle {
    own: HashMap<IpAddr, Bucket>,
    all: Bucket,
    told_at: Option<Instant>,
}

impl Throttle {
    pub(crate) fn new(now: Instant) -> Throttle {
        Throttle { own: HashMap::new(), all: Bucket { full_at: now }, told_at: None }
    }

    /// How long the address has to wait before it may try again.
    pub(crate) fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let own = self.own.get(&place(address)).map_or(Duration::ZERO, |bucket| bucket.wait(OWN, now));
        let all = if is_here(address) { Duration::ZERO } else { self.all.wait(ALL, now) };
        Some(own.max(all)).filter(|wait| !wait.is_zero())
    }

    /// The address was wrong.
    pub(crate) fn wrong(&mut self, address: IpAddr, now: Instant) {
        if self.own.len() >= ADDRESSES && !self.own.contains_key(&place(address)) {
            self.make_room(now);
        }
        self.own.entry(place(address)).or_insert(Bucket { full_at: now }).take(OWN, now);
        if !is_here(address) {
            self.all.take(ALL, now);
        }
    }

    /// Whether it is time to tell people that somebody was held up.
    pub(crate) fn is_worth_telling(&mut self, now: Instant) -> bool {
        let telling = self.told_at.is_none_or(|told| now.saturating_duration_since(told) >= TELL_EVERY);
        if telling {
            self.told_at = Some(now);
        }
        telling
    }

    /// Those with nothing against them go, else the one with the least.
    fn make_room(&mut self, now: Instant) {
        self.own.retain(|_, bucket| bucket.full_at > now);
        if self.own.len() >= ADDRESSES
            && let Some(least) = self.own.iter().min_by_key(|(_, bucket)| bucket.full_at).map(|(address, _)| *address)
        {
            self.own.remove(&least);
        }
    }
}

/// Somebody with one IPv6 address usually has 2^64 of them.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

fn is_here(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_that_is_wrong_too_often_waits_and_others_do_not() {
        let now = Instant::now();
        let mut throttle = Throttle::new(now);
        let (wrong, other) = (address("192.0.2.1"), address("192.0.2.2"));
        for _ in 0..OWN.burst {
            assert_eq!(throttle.wait(wrong, now), None);
            throttle.wrong(wrong, now);
        }
        let wait = throttle.wait(wrong, now).unwrap();
        assert_eq!(wait, OWN.every);
        assert_eq!(throttle.wait(other, now), None);
        assert_eq!(throttle.wait(wrong, now + wait), None, "one try comes back");
        throttle.wrong(wrong, now + wait);
        assert!(throttle.wait(wrong, now + wait).is_some());
    }

    #[test]
    fn many_addresses_guess_no_faster_but_do_not_hold_up_this_machine() {
        let now = Instant::now();
        let mut throttle = Throttle::new(now);
        for index in 0..ALL.burst {
            throttle.wrong(Ipv6Addr::new(0x2001, 0xdb8, 0, u16::try_from(index).unwrap(), 0, 0, 0, 1).into(), now);
        }
        assert_eq!(throttle.wait(address("2001:db8:ffff::1"), now), Some(ALL.every));
        assert_eq!(throttle.wait(address("127.0.0.1"), now), None);
        assert_eq!(throttle.wait(address("::ffff:127.0.0.1"), now), None);
    }

    #[test]
    fn addresses_of_one_network_share_their_tries() {
        let now = Instant::now();
        let mut throttle = Throttle::new(now);
        for host in 0..OWN.burst {
            throttle.wrong(Ipv6Addr::new(0x2001, 0xdb8, 1, 1, 0, 0, 0, u16::try_from(host).unwrap()).into(), now);
        }
        assert!(throttle.wait(address("2001:db8:1:1::ffff"), now).is_some());
        assert_eq!(throttle.wait(address("2001:db8:1:2::ffff"), now), None);
    }

    #[test]
    fn so_many_addresses_are_remembered_and_no_more() {
        let now = Instant::now();
        let mut throttle = Throttle::new(now);
        let worst = address("192.0.2.1");
        for _ in 0..OWN.burst {
            throttle.wrong(worst, now);
        }
        for index in 0..2 * ADDRESSES {
            throttle.wrong(IpAddr::from(u32::try_from(index + 0x0a00_0000).unwrap().to_be_bytes()), now);
        }
        assert_eq!(throttle.own.len(), ADDRESSES);
        assert!(throttle.wait(worst, now).is_some(), "the worst one is not forgotten for the sake of others");
    }

    #[test]
    fn people_are_told_once_in_a_while() {
        let now = Instant::now();
        let mut throttle = Throttle::new(now);
        assert!(throttle.is_worth_telling(now));
        assert!(!throttle.is_worth_telling(now + TELL_EVERY / 2));
        assert!(throttle.is_worth_telling(now + TELL_EVERY));
    }
}
