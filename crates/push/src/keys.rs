//! The key pair by which push services know this server (VAPID). Made at first start: browsers bind their subscriptions to it.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;

use crate::curve;

const FILE_NAME: &str = "push-key";
/// Push services take no longer one than a day.
const VALID: SignedDuration = SignedDuration::from_hours(12);

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("{} cannot be read or written", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} holds no key: remove it to make a new one; devices then subscribe to notifications again", .0.display())]
    NoKey(PathBuf),
}

pub struct Keys {
    signing: EcdsaKeyPair,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Keys")
    }
}

impl Keys {
    /// Those of the data directory, which must exist.
    ///
    /// # Errors
    /// Where they can be neither read nor made.
    pub fn load_or_make(data_dir: &Path) -> Result<Keys, KeysError> {
        let path = data_dir.join(FILE_NAME);
        let failed = |source| KeysError::File { path: path.clone(), source };
        if !path.try_exists().map_err(failed)? {
            make(data_dir, &path).map_err(failed)?;
        }
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_| KeysError::NoKey(path.clone()))?;
        let signing = signing(&bytes).ok_or(KeysError::NoKey(path))?;
        Ok(Keys { signing })
    }

    /// As a browser is given it when it subscribes: the uncompressed point in base64url.
    pub fn public(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.signing.public_key())
    }

    /// What a push service at `origin` is shown: who sends, and whom to write to where that makes trouble.
    pub(crate) fn authorization(&self, origin: &str, contact: &str, now: Timestamp) -> String {
        let header = json!({ "typ": "JWT", "alg": "ES256" }).to_string();
        let claims = json!({ "aud": origin, "exp": (now + VALID).as_second(), "sub": contact }).to_string();
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature =
            self.signing.sign(&SystemRandom::new(), signed.as_bytes()).expect("the system gives random bytes, as it did at the start");
        format!("vapid t={signed}.{}, k={}", URL_SAFE_NO_PAD.encode(signature), self.public())
    }
}

/// Written aside and linked into place: two servers that start at once end up with one key, and none is ever half written.
fn make(data_dir: &Path, path: &Path) -> io::Result<()> {
    let aside = data_dir.join(format!("{FILE_NAME}.{}.tmp", std::process::id()));
    let linked = write_private(&aside, &random_key()?).and_then(|()| match std::fs::hard_link(&aside, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    match std::fs::remove_file(&aside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    linked?;
    File::open(data_dir)?.sync_all()
}

fn random_key() -> io::Result<String> {
    loop {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the system gives no random bytes"))?;
        // All but one in 2³² numbers are keys.
        if signing(&bytes).is_some() {
            return Ok(format!("{}\n", URL_SAFE_NO_PAD.encode(bytes)));
        }
    }
}

/// A private key and nothing else is what the file holds.
fn signing(private: &[u8]) -> Option<EcdsaKeyPair> {
    let public = curve::public_key(private.try_into().ok()?)?;
    EcdsaKeyPair::from_private_key_and_public_key(&ECDSA_P256_SHA256_FIXED_SIGNING, private, &public, &SystemRandom::new()).ok()
}

fn write_private(path: &Path, contents: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // The mode above is for a new file; a leftover of a killed process may have another one.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(contents.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use web_push_native::p256::ecdsa::signature::Verifier;
    use web_push_native::p256::ecdsa::{Signature, VerifyingKey};

    use super::*;

    #[test]
    fn the_keys_are_made_once_and_are_the_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let made = Keys::load_or_make(dir.path()).unwrap();
        assert_eq!(Keys::load_or_make(dir.path()).unwrap().public(), made.public());
        let mode = dir.path().join(FILE_NAME).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_spoilt_file_is_named_and_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "spoilt").unwrap();
        let error = Keys::load_or_make(dir.path()).unwrap_err();
        assert!(matches!(error, KeysError::NoKey(_)), "{error}");
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap(), "spoilt");
    }

    /// Browsers bind their subscriptions to the public key: a file that an older server has written must give the same.
    #[test]
    fn a_stored_key_stays_what_it_was() {
        let dir = tempfile::tempdir().unwrap();
        // The pair of the example in RFC 8291, appendix A.
        std::fs::write(dir.path().join(FILE_NAME), "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw\n").unwrap();
        let public = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
        assert_eq!(Keys::load_or_make(dir.path()).unwrap().public(), public);
    }

    #[test]
    fn numbers_that_are_no_keys_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        for number in [vec![0; 32], vec![0xff; 32], vec![1; 31], vec![1; 33]] {
            std::fs::write(dir.path().join(FILE_NAME), URL_SAFE_NO_PAD.encode(number)).unwrap();
            assert!(matches!(Keys::load_or_make(dir.path()).unwrap_err(), KeysError::NoKey(_)));
        }
    }

    #[test]
    fn a_push_service_can_check_who_sends() {
        let dir = tempfile::tempdir().unwrap();
        let keys = Keys::load_or_make(dir.path()).unwrap();
        let now: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
        let shown = keys.authorization("https://push.example", "mailto:a@b.example", now);
        let (token, key) = shown.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(key, keys.public());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let verifying = VerifyingKey::from_sec1_bytes(&URL_SAFE_NO_PAD.decode(key).unwrap()).unwrap();
        let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        verifying.verify(signed.as_bytes(), &signature).unwrap();
        let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.').unwrap().1).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!(claims, json!({ "aud": "https://push.example", "exp": now.as_second() + 12 * 3600, "sub": "mailto:a@b.example" }));
    }
}
