//! A file of the work directory as a person looks at it: its text, an image, or a word on why it is neither.

use std::path::Path;

use serde::Serialize;
use utoipa::ToSchema;

use crate::beneath::{self, Spot};
use crate::files::FileError;
use crate::work_dir::WorkDir;
use crate::{Refusal, bound};

/// Longer texts are for an editor.
const TEXT_MAX: u64 = 2 * 1024 * 1024;
/// Of an image, whether it is on the disk or in the repository.
pub(crate) const IMAGE_MAX: u64 = 16 * 1024 * 1024;
/// Git looks for a NUL in as much.
const SNIFF_BYTES: usize = 8000;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViewKind {
    Text,
    Image,
    Binary,
    TooLarge,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct FileView {
    /// Relative to the work directory, with every link resolved.
    pub path: String,
    pub kind: ViewKind,
    /// In bytes.
    pub size: u64,
    /// Of a text alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The bytes of an image that every browser shows, and which kind it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    pub mime_type: &'static str,
    pub bytes: Vec<u8>,
}

impl Picture {
    /// `None` for what is no image.
    pub fn of(bytes: Vec<u8>) -> Option<Self> {
        image_type(&bytes).map(|mime_type| Self { mime_type, bytes })
    }
}

/// An image is what its first bytes say, whatever it is called.
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The file at `path`, inside the work directory and outside of git's own.
pub fn view(work_dir: &Path, path: &str) -> Result<FileView, FileError> {
    let work_dir = WorkDir::open(work_dir)?;
    let spot = spot(&work_dir, path)?;
    let (file, about) = spot.file(path)?;
    let size = about.len();
    let shown = |kind, text| FileView { path: WorkDir::shown(&spot.path), kind, size, text };
    if size > IMAGE_MAX {
        return Ok(shown(ViewKind::TooLarge, None));
    }
    let bytes = beneath::bytes(file, IMAGE_MAX, path)?;
    if image_type(&bytes).is_some() {
        Ok(shown(ViewKind::Image, None))
    } else if bytes[..bytes.len().min(SNIFF_BYTES)].contains(&0) {
        Ok(shown(ViewKind::Binary, None))
    } else if size > TEXT_MAX {
        Ok(shown(ViewKind::TooLarge, None))
    } else {
        Ok(shown(ViewKind::Text, Some(bound::clean(&String::from_utf8_lossy(&bytes)))))
    }
}

/// The image at `path`.
pub fn picture(work_dir: &Path, path: &str) -> Result<Picture, FileError> {
    let (file, _) = spot(&WorkDir::open(work_dir)?, path)?.file(path)?;
    let no_image = || FileError::Refused(format!("'{}' is not a PNG, JPEG, GIF or WebP image", bound::name(path)));
    Picture::of(beneath::bytes(file, IMAGE_MAX, path)?).ok_or_else(no_image)
}

/// Those of `paths` that [`view`] would find, as they are spelled.
pub fn viewable(work_dir: &Path, paths: Vec<String>) -> Vec<String> {
    let Ok(work_dir) = WorkDir::open(work_dir) else { return Vec::new() };
    paths.into_iter().filter(|path| spot(&work_dir, path).is_ok()).collect()
}

fn spot(work_dir: &WorkDir, path: &str) -> Result<Spot, FileError> {
    let missing = || FileError::Missing(format!("there is no file '{}'", bound::name(path)));
    let spot = match work_dir.root().walk(path.as_bytes(), beneath::Links::Follow) {
        Err(beneath::Lost::Missing | beneath::Lost::NotDirectory) => return Err(missing()),
        walked => walked.map_err(|lost| lost.refusal(path))?,
    };
    if spot.path.components().any(|part| part.as_os_str() == ".git") {
        return Err(Refusal::new(format!("'{}' belongs to git and is not shown", bound::name(path))).into());
    }
    match spot.kind {
        None => Err(missing()),
        Some(beneath::Kind::File) if !spot.is_kernel() => Ok(spot),
        Some(_) => Err(Refusal::new(format!("'{}' is not a regular file", bound::name(path))).into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    fn work() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("work");
        fs::create_dir_all(work.join("src")).unwrap();
        fs::write(home.path().join("secret"), "secret").unwrap();
        (home, work)
    }

    #[test]
    fn says_what_a_file_is_and_shows_only_text() {
        let (_home, work) = work();
        fs::write(work.join("src/lib.rs"), "one\ntwo\n").unwrap();
        fs::write(work.join("dot.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
        fs::write(work.join("a.bin"), b"a\0b").unwrap();
        fs::write(work.join("latin"), b"caf\xe9").unwrap();
        fs::write(work.join("empty"), "").unwrap();
        fs::write(work.join("long"), "x".repeat(TEXT_MAX as usize + 1)).unwrap();
        fs::File::create(work.join("sparse")).unwrap().set_len(1 << 40).unwrap();
        symlink("src/lib.rs", work.join("inside")).unwrap();
        for (path, kind, text) in [
            ("src/lib.rs", ViewKind::Text, Some("one\ntwo\n")),
            ("./src/../src/lib.rs", ViewKind::Text, Some("one\ntwo\n")),
            ("inside", ViewKind::Text, Some("one\ntwo\n")),
            ("latin", ViewKind::Text, Some("caf\u{fffd}")),
            ("empty", ViewKind::Text, Some("")),
            ("dot.png", ViewKind::Image, None),
            ("a.bin", ViewKind::Binary, None),
            ("long", ViewKind::TooLarge, None),
            ("sparse", ViewKind::TooLarge, None),
        ] {
            let seen = view(&work, path).unwrap();
            assert_eq!((seen.kind, seen.text.as_deref()), (kind, text), "{path}");
        }
        assert_eq!(view(&work, "inside").unwrap().path, "src/lib.rs");
        let absolute = work.join("src/lib.rs").to_string_lossy().into_owned();
        assert_eq!(view(&work, &absolute).unwrap().path, "src/lib.rs");
        assert_eq!(picture(&work, "dot.png").unwrap().mime_type, "image/png");
        assert!(picture(&work, "src/lib.rs").is_err());
    }

    #[test]
    fn shows_nothing_outside_of_the_work_directory_and_nothing_of_git() {
        let (home, work) = work();
        fs::create_dir(work.join(".git")).unwrap();
        fs::write(work.join(".git/config"), "token").unwrap();
        symlink(home.path().join("secret"), work.join("link")).unwrap();
        symlink(home.path(), work.join("out")).unwrap();
        symlink(".git/config", work.join("git")).unwrap();
        symlink("/proc/self/environ", work.join("environ")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(work.join("pipe")).status().unwrap().success());
        let paths = ["../secret", "link", "out/secret", "/etc/hostname", ".git/config", "git", "environ", "pipe", "src", "", "a\0b"];
        for path in paths {
            assert!(matches!(view(&work, path), Err(FileError::Refused(_))), "{path}");
            assert!(picture(&work, path).is_err(), "{path}");
        }
        for path in ["missing", "src/missing", "missing/file"] {
            assert!(matches!(view(&work, path), Err(FileError::Missing(_))), "{path}");
        }
        fs::write(work.join("a.rs"), "").unwrap();
        let asked = paths.iter().chain(&["a.rs", "./a.rs"]).map(|path| (*path).to_owned()).collect();
        assert_eq!(viewable(&work, asked), ["a.rs", "./a.rs"]);
    }
}
