//! A message for one browser alone (RFC 8291), as one record of an encrypted content coding (RFC 8188).

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::rand::{SecureRandom, SystemRandom};

pub(crate) const POINT_BYTES: usize = 65;
pub(crate) const AUTH_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;
/// What stands after the text of the last record.
const LAST: u8 = 2;

/// Whom a message is for: the browser's public key and the secret that it shares with its page.
#[derive(Clone, Debug)]
pub(crate) struct Recipient {
    pub(crate) key: [u8; POINT_BYTES],
    pub(crate) auth: [u8; AUTH_BYTES],
}

/// The library looks at a key only when it is used, so it is.
pub(crate) fn is_point(key: &[u8; POINT_BYTES]) -> bool {
    agree(key).is_ok()
}

/// With a key pair and a salt that are used for nothing else.
pub(crate) fn encrypt(message: &[u8], to: &Recipient) -> Result<Vec<u8>, Unspecified> {
    let mut salt = [0; SALT_BYTES];
    SystemRandom::new().fill(&mut salt)?;
    let (own, shared) = agree(&to.key)?;
    record(message, to, &own, &shared, salt)
}

/// The public half of a fresh key, and the secret that it has in common with `peer`.
fn agree(peer: &[u8; POINT_BYTES]) -> Result<([u8; POINT_BYTES], Vec<u8>), Unspecified> {
    let private = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new())?;
    let own = private.compute_public_key()?.as_ref().try_into().map_err(|_| Unspecified)?;
    let shared = agree_ephemeral(private, &UnparsedPublicKey::new(&ECDH_P256, peer), <[u8]>::to_vec)?;
    Ok((own, shared))
}

fn record(message: &[u8], to: &Recipient, own: &[u8; POINT_BYTES], shared: &[u8], salt: [u8; SALT_BYTES]) -> Result<Vec<u8>, Unspecified> {
    let mixed = Salt::new(HKDF_SHA256, &to.auth).extract(shared);
    let mut input = [0; 32];
    expand(&mixed, &[b"WebPush: info\0", &to.key, own], &mut input)?;
    let secret = Salt::new(HKDF_SHA256, &salt).extract(&input);
    let (mut key, mut nonce) = ([0; KEY_BYTES], [0; NONCE_BYTES]);
    expand(&secret, &[b"Content-Encoding: aes128gcm\0"], &mut key)?;
    expand(&secret, &[b"Content-Encoding: nonce\0"], &mut nonce)?;

    let mut text = [message, &[LAST]].concat();
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?);
    // The first record's number is zero, which leaves the nonce as it is.
    let tag = key.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text)?;
    let size = u32::try_from(text.len() + tag.as_ref().len()).map_err(|_| Unspecified)?;
    let own_size = u8::try_from(own.len()).map_err(|_| Unspecified)?;
    Ok([&salt, &size.to_be_bytes()[..], &[own_size], own, &text, tag.as_ref()].concat())
}

fn expand(from: &Prk, info: &[&[u8]], into: &mut [u8]) -> Result<(), Unspecified> {
    from.expand(info, Length(into.len()))?.fill(into)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use web_push_native::p256::SecretKey;
    use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint;
    use web_push_native::{Auth, decrypt};

    use super::*;

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        URL_SAFE_NO_PAD.decode(text).unwrap().try_into().unwrap()
    }

    /// The key pair of the sender cannot be given to the library, so the secret in common is taken from the appendix as well.
    #[test]
    fn the_example_of_the_standard_comes_out() {
        let to = Recipient {
            key: bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        };
        let own = bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
        let shared: [u8; 32] = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let message = b"When I grow up, I want to be a watermelon";
        let record = record(message, &to, &own, &shared, bytes("DGv6ra1nlYgDCS1FRnbzlw")).unwrap();
        // The example has room for 4096 bytes in a record; ours is as long as it is.
        let mut expected = URL_SAFE_NO_PAD
            .decode(concat!(
                "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_y",
                "l95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
            ))
            .unwrap();
        expected[16..20].copy_from_slice(&58_u32.to_be_bytes());
        assert_eq!(record, expected);
    }

    #[test]
    fn the_browser_alone_can_read_it() {
        let secret = SecretKey::from_slice(&[7; 32]).unwrap();
        let key = secret.public_key().to_encoded_point(false).as_bytes().try_into().unwrap();
        let to = Recipient { key, auth: [9; AUTH_BYTES] };
        for message in [vec![], b"words".to_vec(), vec![b'x'; 3900]] {
            let sent = encrypt(&message, &to).unwrap();
            assert_eq!(decrypt(sent.clone(), &secret, &Auth::from(to.auth)).unwrap(), message);
            assert!(decrypt(sent.clone(), &secret, &Auth::from([8; AUTH_BYTES])).is_err());
            assert!(decrypt(sent, &SecretKey::from_slice(&[8; 32]).unwrap(), &Auth::from(to.auth)).is_err());
        }
        assert_ne!(encrypt(b"words", &to).unwrap(), encrypt(b"words", &to).unwrap(), "each has a key and a salt of its own");
    }
}
