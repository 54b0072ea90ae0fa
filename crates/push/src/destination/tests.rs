use super::*;

fn check(endpoint: &str) -> Result<Destination, DestinationRefused> {
    Destinations::default().check(&Url::parse(endpoint).unwrap())
}

#[test]
fn push_services_of_browsers_and_public_hosts_are_allowed() {
    for endpoint in [
        "https://fcm.googleapis.com/fcm/send/abc",
        "https://updates.push.services.mozilla.com/wpush/v2/abc",
        "https://web.push.apple.com/abc",
        "https://db5p.notify.windows.com/w/?token=abc",
        "https://FCM.googleapis.com./x",
    ] {
        assert_eq!(check(endpoint), Ok(Destination::Known), "{endpoint}");
    }
    for endpoint in ["https://push.example/send", "https://push.example:8443/send", "https://xfcm.googleapis.com.example/x"] {
        assert_eq!(check(endpoint), Ok(Destination::Name), "{endpoint}");
    }
    for endpoint in ["https://93.184.216.34/x", "https://[2606:2800:220:1::1]/x", "https://[64:ff9b::93.184.216.34]/x"] {
        assert_eq!(check(endpoint), Ok(Destination::Address), "{endpoint}");
    }
}

/// This machine and its network, however they are written.
#[rustfmt::skip]
const PRIVATE: [&str; 71] = [
    "127.0.0.1", "127.0.0.1:8443", "127.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001",
    "127.0.0.1.", "%31%32%37.0.0.1", "①②⑦.⓪.⓪.①", "0.0.0.0", "0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1",
    "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255", "169.254.169.254", "192.0.0.1", "192.0.2.1", "198.18.0.1",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[fe80::1]", "[febf::1]", "[fc00::1]", "[fd12:3456::1]", "[fec0::1]", "[ff02::1]", "[2002:7f00:1::1]", "[2002:a00:1::]",
    "[2001:0:1::1]", "[2001:db8::1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]",
    "[3fff::1]", "[100::1]", "localhost", "LOCALHOST", "localhost.", "localhost:443", "push.localhost", "box.local", "box.local.",
    "BOX.LOCAL", "box.lan", "metadata.google.internal", "router.home.arpa", "router", "router.", "x.corp", "x.onion",
];

#[test]
fn this_machine_and_its_network_are_refused_however_they_are_written() {
    for host in PRIVATE {
        let endpoint = format!("https://{host}/x");
        assert_eq!(check(&endpoint), Err(DestinationRefused), "{endpoint}");
    }
}

#[test]
fn without_encryption_nothing_is_reached_that_the_operator_has_not_named() {
    for endpoint in ["http://push.example/x", "http://127.0.0.1:9/x", "http://fcm.googleapis.com/x", "ftp://push.example/x"] {
        assert_eq!(check(endpoint), Err(DestinationRefused), "{endpoint}");
    }
}

#[test]
fn a_host_that_the_operator_names_is_reached_at_that_port_alone() {
    let hosts = ["127.0.0.1:8080", "push.lan:443", "[::1]:*", "Box.LOCAL:9"].map(|host| host.parse().unwrap());
    let destinations = Destinations::new(hosts.to_vec());
    let check = |endpoint: &str| destinations.check(&Url::parse(endpoint).unwrap());
    for endpoint in [
        "http://127.0.0.1:8080/x",
        "https://127.1:8080/x",
        "https://push.lan/x",
        "https://push.lan.:443/x",
        "http://[::1]:7/x",
        "https://box.local:9/",
    ] {
        assert_eq!(check(endpoint), Ok(Destination::Allowed), "{endpoint}");
    }
    for endpoint in
        ["http://127.0.0.1/x", "https://127.0.0.1:8081/x", "http://push.lan/x", "https://a.push.lan/x", "https://127.0.0.2:8080/x"]
    {
        assert_eq!(check(endpoint), Err(DestinationRefused), "{endpoint}");
    }
    let here = [IpAddr::from([127, 0, 0, 1])];
    assert_eq!(destinations.check_resolved("push.lan.", &here), Ok(()));
    assert_eq!(destinations.check_resolved("other.example", &here), Err(DestinationRefused));
}

#[test]
fn what_is_no_host_and_port_is_refused_as_a_setting() {
    for text in [
        "",
        "push.lan",
        ":443",
        "push.lan:",
        "push.lan:x",
        "push.lan:70000",
        "me@push.lan:443",
        "push.lan/x:443",
        "a b:443",
        "https://push.lan:443",
    ] {
        assert!(text.parse::<AllowedHost>().is_err(), "{text}");
    }
}

#[test]
fn one_private_address_among_public_ones_is_enough_to_refuse() {
    let [public, private] = [IpAddr::from([93, 184, 216, 34]), IpAddr::from([10, 0, 0, 1])];
    let destinations = Destinations::default();
    assert_eq!(destinations.check_resolved("push.example", &[public]), Ok(()));
    for addresses in [&[public, private][..], &[private], &[]] {
        assert_eq!(destinations.check_resolved("push.example", addresses), Err(DestinationRefused), "{addresses:?}");
    }
}

#[test]
fn an_address_of_this_machine_is_its_own() {
    assert!(is_own(IpAddr::from([127, 0, 0, 1])));
    assert!(!is_own(IpAddr::from([93, 184, 216, 34])));
}
