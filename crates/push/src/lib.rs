//! Web Push: words for a browser that is not looking, by way of the push service that the browser has chosen.
//!
//! What is sent is encrypted for that browser alone (RFC 8291), and signed with a key of this server's own (RFC 8292). Who is told what,
//! and when, is not known here.

mod curve;
mod destination;
mod encryption;
mod keys;
mod resolve;
mod send;
mod subscription;

pub use destination::{AllowedHost, DestinationRefused};
pub use keys::{Keys, KeysError};
pub use send::{Note, Outcome, Sender, Urgency};
pub use subscription::{BadSubscription, Subscription};
