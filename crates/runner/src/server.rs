//! The server's end of a runner: start it, attach to it, find those a former server left. Async; knows no meaning of lines.

mod connect;
mod handle;
mod leftovers;
mod records;
mod start;

use std::io;
use std::path::Path;

use thiserror::Error;

use crate::spec;
use crate::wire::{self, Request, Status, VERSION};

pub use handle::{Handle, RequestError, WriteError};
pub use leftovers::{Bar, Found, LeftoverError, bar, end_leftovers, find, left_behind};
pub use records::{ReadError, Records};
pub use start::{StartError, start};

#[derive(Debug, Error)]
pub enum AttachError {
    /// Nobody listens: the runner has ended. Its journal can still be read.
    #[error("the runner is gone")]
    Gone(#[source] io::Error),
    /// The runner is there but another server took it in the same moment.
    #[error("the runner was taken by another server")]
    Taken,
    #[error("the runner speaks version {0} of the protocol")]
    Version(u32),
    #[error("talking to the runner")]
    Io(#[source] io::Error),
}

/// Attaches to the runner of `dir` and reads its journal after `cursor`. Whoever was attached before is cut off.
///
/// [`Handle`] and [`Records`] are independent: a write is answered whether or not the records are being read.
pub async fn attach(dir: &Path, cursor: u64) -> Result<(Handle, Records), AttachError> {
    let key = spec::key(dir);
    let mut control = connect::open(dir).await.map_err(AttachError::Gone)?;
    let payload = match connect::ask(&mut control, &Request::Control { key: key.clone() }).await {
        Ok((Status::Done, payload)) => payload,
        Ok(_) => return Err(AttachError::Taken),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(AttachError::Gone(error)),
        Err(error) => return Err(AttachError::Io(error)),
    };
    let (version, epoch) = wire::read_greeting(&payload)
        .ok_or_else(|| AttachError::Io(io::Error::new(io::ErrorKind::InvalidData, "a greeting that is none")))?;
    if version != VERSION {
        return Err(AttachError::Version(version));
    }
    let mut records = connect::open(dir).await.map_err(AttachError::Gone)?;
    let follow = Request::Records { epoch, cursor, key };
    connect::send(&mut records, &follow).await.map_err(AttachError::Io)?;
    Ok((Handle::new(control), Records::new(records, cursor)))
}
