//! What other machines may call this one: its name and its addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The host name, where the system tells it.
pub(crate) fn name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::fs::read_to_string("/etc/hostname")).ok()?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    is_name.then(|| name.to_ascii_lowercase())
}

/// The addresses under which other machines may reach this one, those of IPv4 first; none where the system does not tell.
pub fn addresses() -> Vec<IpAddr> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let (four, six) = (four(&read("/proc/net/fib_trie")), six(&read("/proc/net/if_inet6")));
    four.into_iter().map(IpAddr::V4).chain(six.into_iter().map(IpAddr::V6)).collect()
}

/// The address by which this machine goes out. Nothing is sent: a datagram socket only chooses where it would send from.
pub(crate) fn outside() -> Option<IpAddr> {
    let socket = std::net::UdpSocket::bind(("0.0.0.0", 0)).ok()?;
    socket.connect(("192.0.2.1", 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_unspecified() && !address.is_loopback())
}

/// Of the routing table, the lines that follow an address and call it this machine's own.
fn four(table: &str) -> Vec<Ipv4Addr> {
    let mut found: Vec<Ipv4Addr> = Vec::new();
    let mut candidate = None;
    for line in table.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("|-- ") {
            candidate = text.parse().ok();
        } else if line == "/32 host LOCAL"
            && let Some(address) = candidate.filter(|address: &Ipv4Addr| !address.is_loopback() && !address.is_link_local())
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

/// Of the table of interfaces, the addresses that are not confined to this machine or to one cable.
fn six(table: &str) -> Vec<Ipv6Addr> {
    let addresses =
        table.lines().filter_map(|line| u128::from_str_radix(line.split_whitespace().next()?, 16).ok()).map(Ipv6Addr::from_bits);
    addresses.filter(|address| !address.is_loopback() && !address.is_unicast_link_local()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_addresses_are_found_in_the_systems_tables() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 192.0.2.0\n        /24 link UNICAST\n     |-- 192.0.2.7\n        /32 host LOCAL\n\
                    Local:\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 169.254.1.1\n        /32 host LOCAL\n     |-- 192.0.2.7\n        /32 host LOCAL\n";
        assert_eq!(four(trie), ["192.0.2.7".parse::<Ipv4Addr>().unwrap()]);
        let interfaces = "00000000000000000000000000000001 01 80 10 80 lo\nfe800000000000000000000000000001 02 40 20 80 eth0\n\
                          20010db8000000000000000000000007 02 40 00 80 eth0\n";
        assert_eq!(six(interfaces), ["2001:db8::7".parse::<Ipv6Addr>().unwrap()]);
        assert_eq!((four("?"), six("?")), (Vec::new(), Vec::new()));
    }
}
