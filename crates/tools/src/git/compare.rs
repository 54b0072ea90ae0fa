//! What differs between two trees: which files, and in them which lines. Names come from git as bytes and are shown as text.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use render::hunks::{self, DiffHunk};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checkout::Checkout;
use crate::{Refusal, bound};

/// Files that are listed, and those whose lines are shown.
const MOST_LISTED: usize = 3000;
const MOST_SHOWN: usize = 500;
/// Of one side of a file, in a list of files and alone.
const LISTED_BYTES: u64 = 512 * 1024;
const ALONE_BYTES: u64 = 2 * 1024 * 1024;
/// Of all files of an answer together.
const MOST_BYTES: u64 = 6 * 1024 * 1024;
/// Files after this are shown when they are asked for.
const TIME_LIMIT: Duration = Duration::from_secs(3);
const MOST_LINES: usize = 2000;
/// Git looks for a NUL in as much.
const BINARY_BYTES: usize = 8000;

const LINK: &str = "120000";
const MODULE: &str = "160000";

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Added,
    Modified,
    Deleted,
    Renamed,
    TypeChanged,
}

/// One file that changed.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct FileChange {
    pub path: String,
    /// Where it was before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    pub status: Status,
    /// The modes, where they differ: whether it can be executed, or is a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    pub additions: u32,
    pub deletions: u32,
    pub binary: bool,
    /// Its lines are not here; they may be asked for.
    pub too_large: bool,
    /// In bytes, where the file is binary and was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_size: Option<u64>,
    /// The same for the same change of the same file.
    pub digest: String,
    pub hunks: Vec<DiffHunk>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Old,
    New,
}

/// Some lines of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct FileLines {
    pub lines: Vec<String>,
    /// How many the file has.
    pub total: u32,
}

impl FileLines {
    /// The lines `from` to `to`, counted from 1, as far as there are any.
    pub fn of(text: &str, from: u32, to: u32) -> Self {
        let skip = from.max(1) as usize - 1;
        let take = (to as usize).saturating_sub(skip).min(MOST_LINES);
        let lines = text.split_terminator('\n').skip(skip).take(take);
        Self {
            lines: lines.map(|line| bound::clean(line.strip_suffix('\r').unwrap_or(line))).collect(),
            total: u32::try_from(text.split_terminator('\n').count()).unwrap_or(u32::MAX),
        }
    }
}

/// Which files differ between two trees.
pub struct Comparison {
    pub(super) entries: Vec<Entry>,
    /// There are more than git could list.
    pub cut: bool,
    pub version: String,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    pub status: Status,
    pub old_mode: String,
    pub new_mode: String,
    pub old_id: String,
    pub new_id: String,
    pub old_path: Option<Vec<u8>>,
    pub path: Vec<u8>,
    /// None for what is not text.
    pub counts: Option<(u32, u32)>,
}

impl Comparison {
    pub fn total_files(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    pub fn additions(&self) -> u32 {
        self.entries.iter().filter_map(|entry| entry.counts).fold(0, |sum, (additions, _)| sum.saturating_add(additions))
    }

    pub fn deletions(&self) -> u32 {
        self.entries.iter().filter_map(|entry| entry.counts).fold(0, |sum, (_, deletions)| sum.saturating_add(deletions))
    }

    /// The file that people know by this name.
    pub(super) fn find(&self, path: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| shown(&entry.path) == path)
    }

    /// What tells a change of this file from any other.
    pub fn digest(&self, path: &str) -> Option<String> {
        self.find(path).map(Entry::digest)
    }

    /// The files without their lines.
    pub fn summary(&self) -> Vec<FileChange> {
        self.listed().iter().map(Entry::change).collect()
    }

    pub(super) fn listed(&self) -> &[Entry] {
        &self.entries[..self.entries.len().min(MOST_LISTED)]
    }

    pub fn is_cut(&self) -> bool {
        self.cut || self.entries.len() > MOST_LISTED
    }
}

impl Checkout {
    pub async fn compare(&self, old: &str, new: &str) -> Result<Comparison, String> {
        let command = [
            "-c",
            "core.bigFileThreshold=10m",
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--numstat",
            "--no-abbrev",
            "--find-renames",
            "-l1000",
            "--relative",
            "--no-ext-diff",
            "--no-textconv",
            "--diff-algorithm=myers",
            "--end-of-options",
            old,
            new,
        ];
        let printed = self.run(&command, None).await.and_then(|printed| printed.succeeded("git diff-tree")).map_err(|why| why.0)?;
        let short = |name: &str| name.chars().take(20).collect::<String>();
        let version = format!("{}-{}", short(old), short(new));
        Ok(Comparison { entries: parse(&printed.stdout), cut: printed.was_cut, version })
    }

    /// The files with their lines, as far as these are not too many.
    pub async fn files(&self, comparison: &Comparison) -> Result<Vec<FileChange>, String> {
        let listed = comparison.listed();
        let shown = &listed[..listed.len().min(MOST_SHOWN)];
        let texts = self.texts(shown, LISTED_BYTES).await.map_err(|why| why.0)?;
        let mut files: Vec<FileChange> = listed.iter().map(Entry::change).collect();
        for file in files.iter_mut().skip(MOST_SHOWN) {
            file.too_large = !file.binary;
        }
        let shown = shown.to_vec();
        let work = move || {
            let deadline = Instant::now() + TIME_LIMIT;
            for (entry, file) in shown.iter().zip(&mut files) {
                fill(file, entry, &texts, deadline);
            }
            files
        };
        let mut files = tokio::task::spawn_blocking(work).await.map_err(|_| "the changes cannot be compared".to_owned())?;
        self.weigh(listed, &mut files).await?;
        Ok(files)
    }

    /// One file with all its lines, unless it is very large.
    pub async fn file(&self, comparison: &Comparison, path: &str) -> Result<Option<FileChange>, String> {
        let Some(entry) = comparison.find(path).cloned() else { return Ok(None) };
        let texts = self.texts(std::slice::from_ref(&entry), ALONE_BYTES).await.map_err(|why| why.0)?;
        let work = move || {
            let mut file = entry.change();
            fill(&mut file, &entry, &texts, Instant::now() + TIME_LIMIT);
            file
        };
        let mut file = tokio::task::spawn_blocking(work).await.map_err(|_| "the file cannot be compared".to_owned())?;
        let entry = comparison.find(path).map(std::slice::from_ref).unwrap_or_default();
        self.weigh(entry, std::slice::from_mut(&mut file)).await?;
        Ok(Some(file))
    }

    /// Lines of one side of a changed file, counted from 1.
    pub async fn lines(&self, comparison: &Comparison, path: &str, side: Side, from: u32, to: u32) -> Result<Option<FileLines>, String> {
        let Some(entry) = comparison.find(path) else { return Ok(None) };
        let texts = self.texts(std::slice::from_ref(entry), ALONE_BYTES).await.map_err(|why| why.0)?;
        let (mode, id) = match side {
            Side::Old => (&entry.old_mode, &entry.old_id),
            Side::New => (&entry.new_mode, &entry.new_id),
        };
        let text = texts.of(mode, id).ok_or("the file is too large to be shown")?;
        Ok(Some(FileLines::of(&text, from, to)))
    }

    /// The contents of both sides, without those that are too large.
    async fn texts(&self, entries: &[Entry], most_bytes: u64) -> Result<Texts, Refusal> {
        let mut wanted: Vec<&str> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.counts.is_some()) {
            let sides = [(&entry.old_mode, &entry.old_id), (&entry.new_mode, &entry.new_id)];
            wanted.extend(sides.into_iter().filter(|(mode, id)| *mode != MODULE && !is_null(id)).map(|(_, id)| id.as_str()));
        }
        let mut room = MOST_BYTES;
        let mut chosen = Vec::new();
        for (id, size) in self.sizes(&wanted).await? {
            if size <= most_bytes && size <= room {
                room -= size;
                chosen.push(id);
            }
        }
        let chosen: Vec<&str> = chosen.iter().map(String::as_str).collect();
        Ok(Texts(self.blobs(&chosen).await?))
    }

    pub(super) async fn sizes(&self, ids: &[&str]) -> Result<Vec<(String, u64)>, Refusal> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let input = ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]).collect::<Vec<_>>().concat();
        let command = ["cat-file", "--buffer", "--batch-check=%(objectname) %(objecttype) %(objectsize)"];
        let printed = self.run(&command, Some(&input)).await?.succeeded("git cat-file")?.text();
        let mut sizes: Vec<(String, u64)> = Vec::new();
        for line in printed.lines() {
            // What is missing has no size.
            if let [id, "blob", size] = line.split(' ').collect::<Vec<_>>()[..]
                && let Ok(size) = size.parse()
            {
                sizes.push((id.to_owned(), size));
            }
        }
        sizes.sort();
        sizes.dedup();
        Ok(sizes)
    }

    pub(super) async fn blobs(&self, ids: &[&str]) -> Result<HashMap<String, Vec<u8>>, Refusal> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let input = ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]).collect::<Vec<_>>().concat();
        let printed = self.run(&["cat-file", "--buffer", "--batch"], Some(&input)).await?.succeeded("git cat-file")?;
        Ok(batch(&printed.stdout))
    }
}

/// Contents by their object names.
struct Texts(HashMap<String, Vec<u8>>);

impl Texts {
    /// As people read it; none where it is not here.
    fn of(&self, mode: &str, id: &str) -> Option<String> {
        if is_null(id) {
            return Some(String::new());
        }
        if mode == MODULE {
            return Some(format!("Subproject commit {id}\n"));
        }
        self.0.get(id).map(|bytes| bound::clean(&String::from_utf8_lossy(bytes)))
    }

    fn is_binary(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|bytes| bytes[..bytes.len().min(BINARY_BYTES)].contains(&0))
    }
}

fn fill(file: &mut FileChange, entry: &Entry, texts: &Texts, deadline: Instant) {
    file.binary |= texts.is_binary(&entry.old_id) || texts.is_binary(&entry.new_id);
    if file.binary {
        return;
    }
    let sides = (texts.of(&entry.old_mode, &entry.old_id), texts.of(&entry.new_mode, &entry.new_id));
    let (Some(old), Some(new)) = sides else {
        file.too_large = true;
        return;
    };
    if Instant::now() > deadline {
        file.too_large = true;
        return;
    }
    file.hunks = hunks::between(&old, &new);
    hunks::name_sections(&mut file.hunks, &old);
}

impl Entry {
    fn change(&self) -> FileChange {
        let (additions, deletions) = self.counts.unwrap_or_default();
        let modes_differ = self.old_mode != self.new_mode && !matches!(self.status, Status::Added | Status::Deleted);
        FileChange {
            path: shown(&self.path),
            old_path: self.old_path.as_deref().map(shown),
            status: self.status,
            old_mode: modes_differ.then(|| self.old_mode.clone()),
            new_mode: modes_differ.then(|| self.new_mode.clone()),
            additions,
            deletions,
            binary: self.counts.is_none(),
            too_large: false,
            old_size: None,
            new_size: None,
            digest: self.digest(),
            hunks: Vec::new(),
        }
    }

    fn digest(&self) -> String {
        let short = |name: &str| name.chars().take(20).collect::<String>();
        format!("{}.{}-{}.{}", self.old_mode, short(&self.old_id), self.new_mode, short(&self.new_id))
    }

    pub(super) fn was_link(&self) -> bool {
        self.old_mode == LINK
    }

    pub(super) fn is_module(&self) -> bool {
        self.old_mode == MODULE || self.new_mode == MODULE
    }
}

pub(super) fn shown(path: &[u8]) -> String {
    bound::clean(&String::from_utf8_lossy(path))
}

pub(super) fn is_null(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

/// Reads `:modes ids status NUL path NUL` of every file, then `additions TAB deletions TAB path NUL` of every file.
fn parse(printed: &[u8]) -> Vec<Entry> {
    let mut fields = printed.split(|byte| *byte == 0);
    let mut entries: Vec<Entry> = Vec::new();
    let mut counted = 0;
    while let Some(field) = fields.next() {
        if field.first() == Some(&b':') {
            let Some(entry) = raw(field, &mut fields) else { break };
            entries.push(entry);
            continue;
        }
        let mut parts = field.splitn(3, |byte| *byte == b'\t');
        let (Some(additions), Some(deletions), Some(path)) = (parts.next(), parts.next(), parts.next()) else { break };
        if path.is_empty() {
            // Of a rename both names follow.
            fields.next();
            fields.next();
        }
        // They come in the order of the files.
        let Some(entry) = entries.get_mut(counted) else { break };
        let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
        entry.counts = number(additions).zip(number(deletions));
        counted += 1;
    }
    entries
}

fn raw<'a>(field: &[u8], fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Entry> {
    let head = std::str::from_utf8(field).ok()?;
    let [old_mode, new_mode, old_id, new_id, status] = head.strip_prefix(':')?.split(' ').collect::<Vec<_>>()[..] else { return None };
    let status = match status.as_bytes().first()? {
        b'A' | b'C' => Status::Added,
        b'D' => Status::Deleted,
        b'R' => Status::Renamed,
        b'T' => Status::TypeChanged,
        _ => Status::Modified,
    };
    let first = fields.next()?.to_vec();
    let (old_path, path) = if status == Status::Renamed { (Some(first), fields.next()?.to_vec()) } else { (None, first) };
    let (old_mode, new_mode, old_id, new_id) = (old_mode.to_owned(), new_mode.to_owned(), old_id.to_owned(), new_id.to_owned());
    Some(Entry { status, old_mode, new_mode, old_id, new_id, old_path, path, counts: None })
}

/// Reads `id blob size LF content LF` over and over.
fn batch(mut printed: &[u8]) -> HashMap<String, Vec<u8>> {
    let mut blobs = HashMap::new();
    while let Some(end) = printed.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&printed[..end]).into_owned();
        printed = &printed[end + 1..];
        let mut words = head.split(' ');
        let (Some(id), Some("blob"), Some(size)) = (words.next(), words.next(), words.next()) else { continue };
        let Some(content) = size.parse().ok().and_then(|size: usize| printed.get(..size)) else { break };
        blobs.insert(id.to_owned(), content.to_vec());
        printed = printed.get(content.len() + 1..).unwrap_or_default();
    }
    blobs
}
