//! Devices, links, the audit log and preferences.

use domain::device::DeviceKind;
use domain::ids::DeviceId;
use jiff::Timestamp;
use store::{AuditRow, DeviceRow, LinkRow, ServerRow, Store, StoreError};
use uuid::Uuid;

use crate::fixture::Fixture;

fn device(number: u128) -> DeviceRow {
    DeviceRow {
        id: DeviceId(Uuid::from_u128(number)),
        secret_hash: format!("secret-{number}"),
        key_hash: None,
        name: "Firefox on Linux".to_owned(),
        kind: DeviceKind::ReadOnly,
        address: "::1".to_owned(),
        created_at: "2026-01-02T03:04:05Z".parse().unwrap(),
        last_used_at: "2026-01-02T03:04:05.000000006Z".parse().unwrap(),
    }
}

fn entry(number: u64) -> AuditRow {
    AuditRow {
        id: 0,
        at: Timestamp::UNIX_EPOCH,
        device_id: Some(DeviceId(Uuid::from_u128(7))),
        device: "desk".to_owned(),
        address: None,
        action: "prompt".to_owned(),
        detail: Some(number.to_string()),
        session: None,
    }
}

#[tokio::test]
async fn devices_links_and_preferences_come_back_as_they_were() {
    let fixture = Fixture::new().await;
    let link = LinkRow {
        id: Uuid::from_u128(5),
        secret_hash: "a".to_owned(),
        code_hash: "b".to_owned(),
        kind: DeviceKind::Full,
        name: Some("phone".to_owned()),
        expires_at: "2026-01-02T03:04:05Z".parse().unwrap(),
        used: false,
    };
    let preference = |value: &str| ServerRow::Preference { key: "policy".to_owned(), value: value.to_owned() };
    let rows = vec![ServerRow::Device(device(1)), ServerRow::Device(device(2)), ServerRow::Link(link.clone()), preference("auto")];
    fixture.store.save(rows).await.unwrap();
    let id = device(1).id;
    let at: Timestamp = "2026-02-02T00:00:00Z".parse().unwrap();
    let used = LinkRow { used: true, ..link.clone() };
    let changes = vec![
        ServerRow::RenameDevice { id, name: "desk".to_owned() },
        ServerRow::DeviceUsed { id, at, address: "192.0.2.1".to_owned() },
        ServerRow::Link(used.clone()),
        preference("ask"),
    ];
    fixture.store.save(changes).await.unwrap();
    fixture.store.close().await;

    let store = Store::open(&fixture.path(), false).await.unwrap();
    let changed = DeviceRow { name: "desk".to_owned(), last_used_at: at, address: "192.0.2.1".to_owned(), ..device(1) };
    assert_eq!(store.devices().await.unwrap(), [changed, device(2)]);
    assert_eq!(store.links().await.unwrap(), [used]);
    assert_eq!(store.preference("policy").await.unwrap().as_deref(), Some("ask"));
    assert_eq!(store.preference("other").await.unwrap(), None);
    store.save(vec![ServerRow::RemoveLink(link.id)]).await.unwrap();
    assert!(store.links().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_device_that_was_removed_does_not_come_back_with_what_is_told_of_it_later() {
    let fixture = Fixture::new().await;
    let id = device(1).id;
    fixture.store.save(vec![ServerRow::Device(device(1))]).await.unwrap();
    fixture.store.save(vec![ServerRow::RemoveDevice(id)]).await.unwrap();
    let late = vec![
        ServerRow::DeviceUsed { id, at: Timestamp::UNIX_EPOCH, address: String::new() },
        ServerRow::RenameDevice { id, name: "again".to_owned() },
    ];
    fixture.store.save(late).await.unwrap();
    assert!(fixture.store.devices().await.unwrap().is_empty());
}

#[tokio::test]
async fn of_rows_that_are_saved_together_all_are_stored_or_none() {
    let fixture = Fixture::new().await;
    fixture.store.save(vec![ServerRow::Device(device(1))]).await.unwrap();
    let twice = vec![ServerRow::Device(device(2)), ServerRow::Device(device(1))];
    let refused = fixture.store.save(twice).await.unwrap_err();
    assert!(matches!(refused, StoreError::Conflict { .. }), "{refused}");
    assert_eq!(fixture.store.devices().await.unwrap(), [device(1)]);
    fixture.store.save(vec![ServerRow::Device(device(2))]).await.unwrap();
    assert_eq!(fixture.store.devices().await.unwrap().len(), 2, "the next one is stored");
}

#[tokio::test]
async fn the_audit_log_is_paged_from_the_newest_and_forgets_the_oldest() {
    let fixture = Fixture::new().await;
    fixture.store.save((1..=10_005).map(|number| ServerRow::Audit(entry(number))).collect()).await.unwrap();
    let newest = fixture.store.audit(None, 2).await.unwrap();
    assert_eq!(newest[0], AuditRow { id: 10_005, ..entry(10_005) });
    let rest = fixture.store.audit(Some(newest[1].id), 20_000).await.unwrap();
    let details = |row: &AuditRow| row.detail.clone().unwrap();
    assert_eq!((details(&rest[0]), details(rest.last().unwrap())), ("10003".to_owned(), "6".to_owned()));
    assert_eq!(newest.len() + rest.len(), 10_000);
}
