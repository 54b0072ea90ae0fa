//! A certificate of our own making, for a network that has no names: it encrypts, and people compare its fingerprint.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose};
use serde::{Deserialize, Serialize};

use super::TlsError;
use crate::machine;

/// Browsers accept no longer life than 398 days. It begins a day early, for clocks that are late.
const LIFE_DAYS: i64 = 396;
const RENEWED_BEFORE_DAYS: i64 = 30;

pub(super) struct Maker {
    dir: PathBuf,
    allowed_hosts: Vec<String>,
    /// It is looked at once a day.
    looked: Mutex<Option<Date>>,
}

/// What was made, kept beside it.
#[derive(Serialize, Deserialize)]
struct Made {
    until: Date,
    names: Vec<String>,
}

impl Maker {
    pub(super) fn new(dir: &Path, allowed_hosts: &[String]) -> Maker {
        Maker { dir: dir.to_owned(), allowed_hosts: allowed_hosts.to_vec(), looked: Mutex::new(None) }
    }

    pub(super) fn cert(&self) -> PathBuf {
        self.dir.join("certificate.pem")
    }

    pub(super) fn key(&self) -> PathBuf {
        self.dir.join("key.pem")
    }

    fn made(&self) -> PathBuf {
        self.dir.join("made.json")
    }

    /// Makes one where there is none, where it ends soon, or where it lacks a name that the server goes by now.
    pub(super) fn make_if_due(&self) -> Result<(), TlsError> {
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner).replace(today);
        if looked != Some(today) && self.is_due(today) {
            self.make(today).map_err(|reason| TlsError::Make { dir: self.dir.clone(), reason })?;
        }
        Ok(())
    }

    fn is_due(&self, today: Date) -> bool {
        let made = std::fs::read(self.made()).ok().and_then(|text| serde_json::from_slice::<Made>(&text).ok());
        let Some(made) = made else { return true };
        let ends_soon = today.checked_add(RENEWED_BEFORE_DAYS.days()).is_ok_and(|soon| made.until <= soon);
        let lacks_name = self.allowed_hosts.iter().any(|host| !made.names.contains(host));
        ends_soon || lacks_name || !self.cert().exists() || !self.key().exists()
    }

    fn make(&self, today: Date) -> Result<(), String> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(|error| error.to_string())?;
        // The key stays: whoever has pinned it knows the server again.
        let kept = std::fs::read_to_string(self.key()).ok().and_then(|text| KeyPair::from_pem(&text).ok());
        let key = kept.map_or_else(KeyPair::generate, Ok).map_err(|error| error.to_string())?;
        let names = self.names();
        let (from, until) = (today.checked_sub(1.day()), today.checked_add(LIFE_DAYS.days()));
        let (from, until) = (from.map_err(|error| error.to_string())?, until.map_err(|error| error.to_string())?);
        let certificate =
            params(names.clone(), from, until).and_then(|params| params.self_signed(&key)).map_err(|error| error.to_string())?;
        let made = serde_json::to_string(&Made { until, names }).map_err(|error| error.to_string())?;
        let files = [(self.key(), key.serialize_pem()), (self.cert(), certificate.pem()), (self.made(), made)];
        files.iter().try_for_each(|(path, text)| write(path, text)).map_err(|error| error.to_string())
    }

    /// What this machine may be called by whoever opens the page.
    fn names(&self) -> Vec<String> {
        let fixed = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into_iter();
        let addresses = machine::addresses().into_iter().map(|address| address.to_string());
        let mut names: Vec<String> = fixed.chain(machine::name()).chain(addresses).chain(self.allowed_hosts.iter().cloned()).collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }
}

fn params(names: Vec<String>, from: Date, until: Date) -> Result<CertificateParams, rcgen::Error> {
    let date = |date: Date| rcgen::date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs());
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "VoxPilot");
    (params.not_before, params.not_after) = (date(from), date(until));
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(params)
}

/// Written aside and put in its place as a whole; its owner alone may read it.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let aside = path.with_extension("new");
    match std::fs::remove_file(&aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&aside, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn today() -> Date {
        Timestamp::now().to_zoned(TimeZone::UTC).date()
    }

    #[test]
    fn it_is_made_once_for_its_owner_alone_and_again_a_month_before_it_ends() {
        let dir = tempfile::TempDir::new().unwrap();
        let maker = Maker::new(&dir.path().join("tls"), &[]);
        maker.make_if_due().unwrap();
        let first = std::fs::read(maker.cert()).unwrap();
        Maker::new(&dir.path().join("tls"), &[]).make_if_due().unwrap();
        assert_eq!(std::fs::read(maker.cert()).unwrap(), first);
        for path in [maker.key(), maker.cert(), maker.made()] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        }
        let end = today() + LIFE_DAYS.days();
        assert!(!maker.is_due(end - 31.days()));
        assert!(maker.is_due(end - 30.days()));
    }

    #[test]
    fn a_new_name_makes_a_new_certificate_with_the_same_key() {
        let dir = tempfile::TempDir::new().unwrap();
        Maker::new(dir.path(), &[]).make_if_due().unwrap();
        let maker = Maker::new(dir.path(), &["cockpit.lan".to_owned()]);
        let (cert, key) = (std::fs::read(maker.cert()).unwrap(), std::fs::read(maker.key()).unwrap());
        maker.make_if_due().unwrap();
        assert_ne!(std::fs::read(maker.cert()).unwrap(), cert);
        assert_eq!(std::fs::read(maker.key()).unwrap(), key);
        assert!(maker.names().contains(&"cockpit.lan".to_owned()));
    }

    #[test]
    fn half_of_it_is_made_anew() {
        let dir = tempfile::TempDir::new().unwrap();
        let maker = Maker::new(dir.path(), &[]);
        maker.make_if_due().unwrap();
        std::fs::remove_file(maker.cert()).unwrap();
        assert!(maker.is_due(today()));
        std::fs::write(maker.key(), "rubbish").unwrap();
        Maker::new(dir.path(), &[]).make_if_due().unwrap();
        assert!(!maker.is_due(today()));
    }
}
