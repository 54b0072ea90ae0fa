//! Links and codes: each lets in one device, once, for a short time. Kept in the store, so that one that was just given out
//! survives a restart.

use std::sync::{Mutex, MutexGuard};

use domain::device::DeviceKind;
use jiff::{SignedDuration, Timestamp};
use store::{LinkRow, ServerRow, Store, StoreError};
use uuid::Uuid;

use super::secret;

const VALID: SignedDuration = SignedDuration::from_mins(10);
/// Used and expired ones are remembered for this long, to tell people why they do not work.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(24);
/// How many are remembered; the oldest makes room.
const MOST: usize = 50;

pub(crate) struct Links {
    store: Store,
    /// The oldest first.
    known: Mutex<Vec<TakenLink>>,
}

/// A link, and whether the store has it. One that it could not take is valid until the server ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TakenLink {
    pub(crate) row: LinkRow,
    pub(crate) stored: bool,
}

/// A link that was just made; the only time that its secrets are known.
pub(crate) struct Made {
    pub(crate) secret: String,
    code: String,
    pub(crate) expires_at: Timestamp,
    pub(crate) stored: bool,
}

impl Made {
    pub(crate) fn shown_code(&self) -> String {
        secret::shown_code(&self.code)
    }
}

/// Why a link or code lets nobody in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unusable {
    Unknown,
    Expired,
    Used,
}

impl Links {
    pub(crate) async fn open(store: Store) -> Result<Links, StoreError> {
        let known = store.links().await?.into_iter().map(|row| TakenLink { row, stored: true }).collect();
        Ok(Links { store, known: Mutex::new(known) })
    }

    fn known(&self) -> MutexGuard<'_, Vec<TakenLink>> {
        self.known.lock().expect("no code panics while it holds the links")
    }

    pub(crate) async fn make(&self, kind: DeviceKind, name: Option<String>) -> Result<Made, StoreError> {
        let (made, link) = new(kind, name);
        let leaving = self.surplus(Timestamp::now());
        let mut rows = vec![ServerRow::Link(link.clone())];
        rows.extend(leaving.iter().map(|id| ServerRow::RemoveLink(*id)));
        self.store.save(rows).await?;
        self.keep(TakenLink { row: link, stored: true }, &leaving);
        Ok(made)
    }

    /// A link for the owner, who gets in also where the store takes nothing: then it is kept in memory.
    pub(crate) async fn make_even_unstored(&self, kind: DeviceKind) -> Made {
        match self.make(kind, None).await {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(%error, "a sign-in link could not be stored: it is valid until the server restarts");
                let (made, link) = new(kind, None);
                self.keep(TakenLink { row: link, stored: false }, &self.surplus(Timestamp::now()));
                Made { stored: false, ..made }
            }
        }
    }

    fn keep(&self, link: TakenLink, leaving: &[Uuid]) {
        let mut known = self.known();
        known.retain(|link| !leaving.contains(&link.row.id));
        known.push(link);
    }

    fn surplus(&self, now: Timestamp) -> Vec<Uuid> {
        let known = self.known();
        let too_many = (known.len() + 1).saturating_sub(MOST);
        let leaves = |index: usize, link: &LinkRow| index < too_many || link.expires_at + REMEMBERED <= now;
        known.iter().map(|link| &link.row).enumerate().filter(|(index, link)| leaves(*index, link)).map(|(_, link)| link.id).collect()
    }

    pub(crate) fn take_by_secret(&self, secret: &str) -> Result<TakenLink, Unusable> {
        let hash = secret::hash(secret);
        self.take(|link| secret::same(&link.secret_hash, &hash))
    }

    pub(crate) fn take_by_code(&self, code: &str) -> Result<TakenLink, Unusable> {
        let hash = secret::hash(code);
        self.take(|link| secret::same(&link.code_hash, &hash))
    }

    /// Marks it as used, so that nobody else gets it; whoever took it stores that, or gives it back.
    fn take(&self, fits: impl Fn(&LinkRow) -> bool) -> Result<TakenLink, Unusable> {
        let mut known = self.known();
        let link = known.iter_mut().find(|link| fits(&link.row)).ok_or(Unusable::Unknown)?;
        if link.row.used {
            return Err(Unusable::Used);
        }
        if link.row.expires_at <= Timestamp::now() {
            return Err(Unusable::Expired);
        }
        link.row.used = true;
        Ok(link.clone())
    }

    /// It could not be stored that it was used, so it was not.
    pub(crate) fn give_back(&self, id: Uuid) {
        if let Some(link) = self.known().iter_mut().find(|link| link.row.id == id) {
            link.row.used = false;
        }
    }
}

fn new(kind: DeviceKind, name: Option<String>) -> (Made, LinkRow) {
    let (secret, code) = (secret::random(), secret::random_code());
    let expires_at = Timestamp::now() + VALID;
    let hashes = (secret::hash(&secret), secret::hash(&code));
    let row = LinkRow { id: Uuid::now_v7(), secret_hash: hashes.0, code_hash: hashes.1, kind, name, expires_at, used: false };
    (Made { secret, code, expires_at, stored: true }, row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_is_taken_once_by_its_secret_or_its_code_unless_it_is_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let links = Links::open(Store::open(&dir.path().join("log.db"), false).await.unwrap()).await.unwrap();
        let made = links.make(DeviceKind::Full, None).await.unwrap();
        let taken = links.take_by_secret(&made.secret).unwrap();
        assert_eq!(links.take_by_secret(&made.secret), Err(Unusable::Used));
        assert_eq!(links.take_by_code(&made.code), Err(Unusable::Used));
        links.give_back(taken.row.id);
        assert!(links.take_by_code(&made.code).is_ok());
        assert_eq!(links.take_by_secret(""), Err(Unusable::Unknown));
    }

    #[tokio::test]
    async fn a_store_that_takes_nothing_leaves_the_owner_a_link_in_memory() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("log.db"), false).await.unwrap();
        let links = Links::open(store.clone()).await.unwrap();
        assert!(links.make_even_unstored(DeviceKind::Full).await.stored);
        store.close().await;
        assert!(links.make(DeviceKind::Full, None).await.is_err());
        let made = links.make_even_unstored(DeviceKind::Full).await;
        assert!(!made.stored);
        assert!(!links.take_by_secret(&made.secret).unwrap().stored);
        assert_eq!(links.take_by_secret(&made.secret), Err(Unusable::Used));
    }

    #[tokio::test]
    async fn so_many_links_are_remembered_and_the_newest_work() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("log.db"), false).await.unwrap();
        let links = Links::open(store.clone()).await.unwrap();
        let first = links.make(DeviceKind::Full, None).await.unwrap();
        for _ in 1..MOST {
            links.make(DeviceKind::Full, None).await.unwrap();
        }
        let last = links.make(DeviceKind::ReadOnly, None).await.unwrap();
        assert_eq!(store.links().await.unwrap().len(), MOST);
        assert_eq!(links.take_by_secret(&first.secret), Err(Unusable::Unknown));
        assert_eq!(links.take_by_secret(&last.secret).unwrap().row.kind, DeviceKind::ReadOnly);
    }
}
