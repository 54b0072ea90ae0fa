//! The devices that are let in: in memory by the hash of their secret, and in the store. A revoked device is
//! signed out at once, whether or not that can be stored; what a device's last use was may lag behind by a minute.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::device::DeviceKind;
use domain::ids::DeviceId;
use jiff::{SignedDuration, Timestamp};
use store::{DeviceRow, ServerRow, Store, StoreError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::link::TakenLink;
use super::secret;

/// Not used for this long, it expires.
const UNUSED: SignedDuration = SignedDuration::from_hours(30 * 24);
/// However often it is used, it expires.
const OLDEST: SignedDuration = SignedDuration::from_hours(90 * 24);
/// How many there may be; the one that was not used for longest makes room.
const MOST: usize = 100;
/// How exactly the last use is known: not every request writes.
const USE_WRITTEN_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// A device as a request sees it.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) row: DeviceRow,
    /// It is let in no more: whatever it still reads ends.
    ended: CancellationToken,
}

pub(crate) struct Devices {
    store: Store,
    /// By the hash of the secret.
    known: Mutex<HashMap<String, Device>>,
}

/// What a new device is.
pub(crate) struct NewDevice {
    pub(crate) name: String,
    pub(crate) kind: DeviceKind,
    pub(crate) address: IpAddr,
}

/// A device that was just added, with the secrets of its browser and of its page.
pub(crate) struct Added {
    pub(crate) secret: String,
    pub(crate) key: String,
    pub(crate) row: DeviceRow,
}

pub(crate) fn expires_at(row: &DeviceRow) -> Timestamp {
    (row.created_at + OLDEST).min(row.last_used_at + UNUSED)
}

impl Devices {
    pub(crate) async fn open(store: Store) -> Result<Devices, StoreError> {
        let now = Timestamp::now();
        // One without a key was signed in by an earlier version and never bound to its page: whoever has its cookie could do that.
        let is_kept = |row: &DeviceRow| expires_at(row) > now && row.key_hash.is_some();
        let (kept, expired): (Vec<_>, Vec<_>) = store.devices().await?.into_iter().partition(is_kept);
        if !expired.is_empty() {
            store.save(expired.iter().map(|row| ServerRow::RemoveDevice(row.id)).collect()).await?;
        }
        let known = kept.into_iter().map(|row| (row.secret_hash.clone(), Device { row, ended: CancellationToken::new() })).collect();
        Ok(Devices { store, known: Mutex::new(known) })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Device>> {
        self.known.lock().expect("no code panics while it holds the devices")
    }

    /// The device that has this secret, unless it has expired.
    pub(crate) fn find(&self, secret: &str) -> Option<Device> {
        let found = self.known().get(&secret::hash(secret)).cloned()?;
        (expires_at(&found.row) > Timestamp::now()).then_some(found)
    }

    /// Those that are let in, the latest used first.
    pub(crate) fn list(&self) -> Vec<DeviceRow> {
        let now = Timestamp::now();
        let mut rows: Vec<_> = self.known().values().map(|device| device.row.clone()).filter(|row| expires_at(row) > now).collect();
        rows.sort_by(|a, b| b.last_used_at.cmp(&a.last_used_at).then(a.id.cmp(&b.id)));
        rows
    }

    /// Adds a device, by a link that this uses up. It has the key of its page from the start, so that a stolen cookie is of no use at
    /// any moment. The device that the same browser was before is forgotten: its secret is lost with the cookie that is replaced.
    pub(crate) async fn add(&self, new: NewDevice, link: TakenLink, before: Option<DeviceId>) -> Result<Added, StoreError> {
        let (secret, key) = (secret::random(), secret::random());
        let now = Timestamp::now();
        let row = DeviceRow {
            id: DeviceId(Uuid::now_v7()),
            secret_hash: secret::hash(&secret),
            key_hash: Some(secret::hash(&key)),
            name: new.name,
            kind: new.kind,
            address: new.address.to_canonical().to_string(),
            created_at: now,
            last_used_at: now,
        };
        let leaving: Vec<_> = self.surplus(now).into_iter().chain(before).collect();
        let mut rows = vec![ServerRow::Device(row.clone())];
        rows.extend(link.stored.then_some(ServerRow::Link(link.row)));
        rows.extend(leaving.iter().map(|id| ServerRow::RemoveDevice(*id)));
        match self.store.save(rows).await {
            // A link that was stored would be valid again after a restart, so its device is stored or not signed in.
            Err(error) if link.stored => return Err(error),
            Err(error) => tracing::warn!(%error, "a device is signed in until the server restarts: it could not be stored"),
            Ok(()) => {}
        }
        self.forget(&leaving);
        self.known().insert(row.secret_hash.clone(), Device { row: row.clone(), ended: CancellationToken::new() });
        Ok(Added { secret, key, row })
    }

    /// Who has to go so that there is room for one more: the expired ones, and those that were not used for longest.
    fn surplus(&self, now: Timestamp) -> Vec<DeviceId> {
        let known = self.known();
        let (expired, mut kept): (Vec<_>, Vec<_>) = known.values().map(|device| &device.row).partition(|row| expires_at(row) <= now);
        kept.sort_by_key(|row| row.last_used_at);
        let surplus = (kept.len() + 1).saturating_sub(MOST);
        expired.iter().chain(&kept[..surplus]).map(|row| row.id).collect()
    }

    fn forget(&self, ids: &[DeviceId]) {
        self.known().retain(|_, device| {
            let stays = !ids.contains(&device.row.id);
            if !stays {
                device.ended.cancel();
            }
            stays
        });
    }

    /// Lets it in no more, and says what it was.
    pub(crate) async fn remove(&self, id: DeviceId) -> Result<Option<DeviceRow>, StoreError> {
        let Some(row) = self.row(id) else { return Ok(None) };
        let stored = self.store.save(vec![ServerRow::RemoveDevice(id)]).await;
        // A store that takes nothing must not keep somebody signed in; whoever revokes it is told that it comes back with a restart.
        self.forget(&[id]);
        stored.map(|()| Some(row))
    }

    pub(crate) async fn rename(&self, id: DeviceId, name: String) -> Result<Option<DeviceRow>, StoreError> {
        self.store.save(vec![ServerRow::RenameDevice { id, name: name.clone() }]).await?;
        Ok(self.change(id, |row| row.name = name))
    }

    /// It was used, here.
    pub(crate) async fn used(&self, device: &Device, address: IpAddr) {
        let now = Timestamp::now();
        let id = device.row.id;
        let address = address.to_canonical().to_string();
        let mut is_due = false;
        self.change(id, |row| {
            is_due = now.duration_since(row.last_used_at) >= USE_WRITTEN_EVERY;
            if is_due {
                row.address.clone_from(&address);
                row.last_used_at = now;
            }
        });
        if is_due && let Err(error) = self.store.save(vec![ServerRow::DeviceUsed { id, at: now, address }]).await {
            tracing::warn!(%error, "when a device was last used could not be stored");
        }
    }

    /// Ends when the device is let in no more.
    pub(crate) async fn until_ended(self: Arc<Devices>, device: Device) {
        loop {
            let Some(row) = self.row(device.row.id) else { return };
            let left = expires_at(&row).duration_since(Timestamp::now());
            if !left.is_positive() {
                return;
            }
            tokio::select! {
                () = device.ended.cancelled() => return,
                // It may have been used meanwhile.
                () = tokio::time::sleep(Duration::try_from(left).unwrap_or_default()) => {}
            }
        }
    }

    fn row(&self, id: DeviceId) -> Option<DeviceRow> {
        self.known().values().find(|device| device.row.id == id).map(|device| device.row.clone())
    }

    fn change(&self, id: DeviceId, change: impl FnOnce(&mut DeviceRow)) -> Option<DeviceRow> {
        let mut known = self.known();
        let device = known.values_mut().find(|device| device.row.id == id)?;
        change(&mut device.row);
        Some(device.row.clone())
    }
}

pub(crate) fn is_key_of(row: &DeviceRow, key: &str) -> bool {
    row.key_hash.as_ref().is_some_and(|hash| secret::same(hash, &secret::hash(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    async fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("log.db"), false).await.unwrap();
        (dir, store)
    }

    fn row(created_at: Timestamp, last_used_at: Timestamp) -> DeviceRow {
        DeviceRow {
            id: DeviceId(Uuid::nil()),
            secret_hash: secret::hash("secret"),
            key_hash: Some(secret::hash("key")),
            name: "desk".to_owned(),
            kind: DeviceKind::Full,
            address: "192.0.2.1".to_owned(),
            created_at,
            last_used_at,
        }
    }

    #[test]
    fn a_device_expires_when_it_is_not_used_and_when_it_is_old() {
        let now = Timestamp::now();
        assert_eq!(expires_at(&row(now, now)), now + UNUSED);
        assert_eq!(expires_at(&row(now - OLDEST + UNUSED / 2, now)), now + UNUSED / 2);
    }

    /// Whoever has the cookie of one could have bound it to a key of their own.
    #[tokio::test]
    async fn a_device_that_was_never_bound_to_its_page_has_to_sign_in_again() {
        let (_dir, store) = store().await;
        let now = Timestamp::now();
        store.save(vec![ServerRow::Device(DeviceRow { key_hash: None, ..row(now, now) })]).await.unwrap();
        let devices = Devices::open(store.clone()).await.unwrap();
        assert!(devices.find("secret").is_none() && store.devices().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn not_every_use_is_written() {
        let (_dir, store) = store().await;
        let now = Timestamp::now();
        let old = row(now - UNUSED / 2, now - USE_WRITTEN_EVERY);
        store.save(vec![ServerRow::Device(old.clone())]).await.unwrap();
        let devices = Devices::open(store.clone()).await.unwrap();
        devices.used(&devices.find("secret").unwrap(), HERE).await;
        let first = store.devices().await.unwrap().remove(0);
        assert!(first.last_used_at >= now && first.address == "127.0.0.1", "{first:?}");
        devices.used(&devices.find("secret").unwrap(), "192.0.2.2".parse().unwrap()).await;
        assert_eq!(store.devices().await.unwrap(), [first]);
    }

    #[tokio::test]
    async fn what_an_expired_device_reads_ends() {
        let (_dir, store) = store().await;
        let now = Timestamp::now();
        let soon = row(now - OLDEST + SignedDuration::from_millis(200), now);
        store.save(vec![ServerRow::Device(soon.clone())]).await.unwrap();
        let devices = Arc::new(Devices::open(store).await.unwrap());
        let device = Device { row: soon, ended: CancellationToken::new() };
        let ended = devices.clone().until_ended(device);
        tokio::time::timeout(Duration::from_secs(60), ended).await.expect("it ends by itself");
        assert!(devices.find("secret").is_none() && devices.list().is_empty());
    }
}
