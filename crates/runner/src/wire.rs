//! The small requests a server makes of a runner, and the answers. Shared by both ends; knows no sockets but by `Read`.
//!
//! A connection has one role, named by its first request: control (requests and answers in turn) or records (nothing but
//! records from then on, in the journal's own bytes). Either shows the key that lies in the runner's directory: whoever may not read that
//! is not the server, even if the socket is within its reach.
//!
//! ```text
//! request: length u32 | kind u8 | payload        answer: length u32 | status u8 | payload
//! ```

use std::io::{self, Read};

use uuid::Uuid;

use crate::record::MAX_WRITE_BYTES;

/// A server of another version may find an older runner still at work; it must be able to tell.
pub(crate) const VERSION: u32 = 1;

pub(crate) const MAX_FRAME_BYTES: usize = MAX_WRITE_BYTES + 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Is anybody there? Does not attach.
    Ping,
    /// Makes this connection the control one and ends whoever was attached before. Answered with version and epoch.
    Control {
        key: Vec<u8>,
    },
    /// Makes this connection the records one of that attachment.
    Records {
        epoch: u64,
        cursor: u64,
        key: Vec<u8>,
    },
    Write {
        write_id: Uuid,
        line: Vec<u8>,
    },
    Busy(bool),
    Ack(u64),
    Stop,
    /// Everything up to here is stored, while a prompt still runs.
    Stored(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    Gone,
    DiskFull,
    Stuck,
    Refused,
}

impl Request {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; 4];
        match self {
            Self::Ping => out.push(0),
            Self::Control { key } => {
                out.push(1);
                out.extend_from_slice(key);
            }
            Self::Records { epoch, cursor, key } => {
                out.push(2);
                out.extend_from_slice(&epoch.to_le_bytes());
                out.extend_from_slice(&cursor.to_le_bytes());
                out.extend_from_slice(key);
            }
            Self::Write { write_id, line } => {
                out.push(3);
                out.extend_from_slice(write_id.as_bytes());
                out.extend_from_slice(line);
            }
            Self::Busy(running) => out.extend_from_slice(&[4, u8::from(*running)]),
            Self::Ack(seq) => {
                out.push(5);
                out.extend_from_slice(&seq.to_le_bytes());
            }
            Self::Stop => out.push(6),
            Self::Stored(seq) => {
                out.push(7);
                out.extend_from_slice(&seq.to_le_bytes());
            }
        }
        seal(out)
    }

    pub(crate) fn decode(frame: &[u8]) -> Option<Self> {
        let (kind, payload) = frame.split_first()?;
        Some(match kind {
            0 => Self::Ping,
            1 => Self::Control { key: payload.to_vec() },
            2 => Self::Records { epoch: number(payload)?, cursor: number(payload.get(8..)?)?, key: payload.get(16..)?.to_vec() },
            3 => {
                let (id, line) = payload.split_first_chunk::<16>()?;
                Self::Write { write_id: Uuid::from_bytes(*id), line: line.to_vec() }
            }
            4 => Self::Busy(*payload.first()? != 0),
            5 => Self::Ack(number(payload)?),
            6 => Self::Stop,
            7 => Self::Stored(number(payload)?),
            _ => return None,
        })
    }
}

impl Status {
    pub(crate) fn answer(self, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![0; 4];
        out.push(self as u8);
        out.extend_from_slice(payload);
        seal(out)
    }

    pub(crate) fn decode(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (status, payload) = frame.split_first()?;
        let status =
            [Self::Done, Self::Gone, Self::DiskFull, Self::Stuck, Self::Refused].into_iter().find(|known| *known as u8 == *status)?;
        Some((status, payload))
    }
}

pub(crate) fn greeting(epoch: u64) -> Vec<u8> {
    let mut payload = VERSION.to_le_bytes().to_vec();
    payload.extend_from_slice(&epoch.to_le_bytes());
    Status::Done.answer(&payload)
}

/// Version and epoch out of the answer to [`Request::Control`].
pub(crate) fn read_greeting(payload: &[u8]) -> Option<(u32, u64)> {
    let (version, rest) = payload.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*version), number(rest)?))
}

/// Reads one frame, without its length. `None`: the peer has closed.
pub(crate) fn read_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut frame = vec![0; checked_length(length)?];
    from.read_exact(&mut frame)?;
    Ok(Some(frame))
}

pub(crate) fn checked_length(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a frame of {length} bytes is too long")));
    }
    Ok(length)
}

fn seal(mut out: Vec<u8>) -> Vec<u8> {
    let length = u32::try_from(out.len() - 4).expect("lines are checked against the cap before they get here");
    out[..4].copy_from_slice(&length.to_le_bytes());
    out
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk::<8>().map(|raw| u64::from_le_bytes(*raw))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn requests_come_back_as_they_went_in() {
        let write = Request::Write { write_id: Uuid::new_v4(), line: b"line".to_vec() };
        let records = Request::Records { epoch: 3, cursor: u64::MAX, key: b"key".to_vec() };
        let control = Request::Control { key: Vec::new() };
        let all = [Request::Ping, control, records, write, Request::Busy(true), Request::Ack(9), Request::Stop];
        for request in all {
            let bytes = request.encode();
            let frame = read_frame(&mut bytes.as_slice()).unwrap().unwrap();
            assert_eq!(Request::decode(&frame).unwrap(), request);
        }
        assert_eq!(Request::decode(&[99]), None);
        assert_eq!(Request::decode(&[]), None);
        assert_eq!(Request::decode(&[5, 1]), None);
    }

    #[test]
    fn answers_come_back_as_they_went_in() {
        let bytes = Status::DiskFull.answer(b"no room");
        let frame = read_frame(&mut bytes.as_slice()).unwrap().unwrap();
        assert_eq!(Status::decode(&frame).unwrap(), (Status::DiskFull, &b"no room"[..]));
        let frame = read_frame(&mut greeting(5).as_slice()).unwrap().unwrap();
        assert_eq!(read_greeting(Status::decode(&frame).unwrap().1), Some((VERSION, 5)));
    }
}
