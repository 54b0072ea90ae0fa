//! The records connection: the journal's bytes turned into records, as many at a time as have arrived, without copying.

use std::io;

use bytes::{Bytes, BytesMut};
use thiserror::Error;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

use crate::record::{self, Body, Peek, Record};

/// Larger buffers would be mapped anew each time, and their first use costs more than the reading.
const READ_BYTES: usize = 64 * 1024;
const LEAST_BYTES: usize = 4 * 1024;

#[derive(Debug, Error)]
pub enum ReadError {
    /// The runner was killed, or another server has attached. The journal on disk tells the rest.
    #[error("the runner closed before the agent's exit")]
    Gone,
    #[error("damaged bytes after record {0}")]
    Damaged(u64),
    #[error("reading the runner's records")]
    Io(#[source] io::Error),
}

/// The records of a runner in order, from the cursor of [`super::attach`] on, as they come.
#[derive(Debug)]
pub struct Records {
    stream: UnixStream,
    buffer: BytesMut,
    /// How much room a new buffer gets: more where much comes at once. There may be hundreds of runners that say little.
    room: usize,
    last_seq: u64,
    /// The exit has been delivered, or reading has failed: nothing can follow.
    over: bool,
}

impl Records {
    pub(super) fn new(stream: UnixStream, cursor: u64) -> Self {
        Self { stream, buffer: BytesMut::new(), room: LEAST_BYTES, last_seq: cursor, over: false }
    }

    /// Everything that has arrived, at least one record; waits if there is none. `None` once the runner has closed after the
    /// exit record, or after an error. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Vec<Record>, ReadError>> {
        loop {
            let records = match self.parse() {
                Ok(records) => records,
                Err(error) => return self.fail(error),
            };
            if !records.is_empty() {
                return Some(Ok(records));
            }
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) if self.over => return None,
                Ok(0) => return self.fail(ReadError::Gone),
                Ok(length) if length > self.room / 2 => self.room = READ_BYTES.min(self.room * 4),
                Ok(length) if length < self.room / 16 => self.room = LEAST_BYTES.max(self.room / 2),
                Ok(_) => {}
                Err(_) if self.over => return None,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return self.fail(ReadError::Gone),
                Err(error) => return self.fail(ReadError::Io(error)),
            }
        }
    }

    fn fail(&mut self, error: ReadError) -> Option<Result<Vec<Record>, ReadError>> {
        (!std::mem::replace(&mut self.over, true)).then_some(Err(error))
    }

    /// Takes all whole records out of the buffer and sees to it that there is room for more.
    fn parse(&mut self) -> Result<Vec<Record>, ReadError> {
        let mut whole = 0;
        let mut count = 0;
        let missing = loop {
            match record::peek(&self.buffer[whole..]) {
                Peek::Whole(total) => {
                    whole += total;
                    count += 1;
                }
                Peek::Short(total) => break total - (self.buffer.len() - whole),
                // What came before is good; the damage is met again at the next call.
                Peek::Damaged if whole > 0 => break 0,
                Peek::Damaged => return Err(ReadError::Damaged(self.last_seq)),
            }
        };
        let mut block = self.buffer.split_to(whole).freeze();
        if self.buffer.capacity() - self.buffer.len() < missing.max(self.room / 4) {
            self.buffer.reserve(missing.max(self.room));
        }
        let mut records = Vec::with_capacity(count);
        while let Peek::Whole(total) = whole_frame(&block) {
            self.take(block.split_to(total), &mut records)?;
        }
        Ok(records)
    }

    fn take(&mut self, frame: Bytes, records: &mut Vec<Record>) -> Result<(), ReadError> {
        let live = record::is_live_notice(&frame);
        let mut record = record::decode(frame).ok_or(ReadError::Damaged(self.last_seq))?;
        if live {
            record.seq = self.last_seq;
        } else {
            self.last_seq = record.seq;
        }
        self.over |= matches!(record.body, Body::Exit { .. });
        records.push(record);
        Ok(())
    }
}

/// The next frame of a block whose checksums have been verified.
fn whole_frame(block: &Bytes) -> Peek {
    match block.first_chunk().and_then(record::frame_bytes) {
        Some(total) => Peek::Whole(total),
        None => Peek::Short(0),
    }
}
