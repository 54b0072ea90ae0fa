//! What changed in a session's work directory: by git, from trees that are taken around each turn, and where there is no repository
//! by what the agents say of themselves.
//!
//! Owns which two states are compared, which changes are the session's own, and what was taken back and may be wanted again. How trees are made, compared and put back is
//! the affair of `tools`.

mod attribution;
mod draft;
mod ledger;
mod picture;
mod scan;
mod told;
mod trees;
mod undo;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::ids::{SessionId, TurnId};
use serde::{Deserialize, Serialize};
use store::SessionRow;
use tools::{ChangeError, Checkout, Commit, Comparison, FileChange, FileLines, Side};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::settings::Settings;
use crate::{Engine, Refusal};

pub(crate) use attribution::Attribution;
use ledger::Ledger;
pub(crate) use scan::{Place as ScanPlace, Scanned, Scans};
pub(crate) use trees::{TreeTaken, Trees, forget, sessions};
pub(crate) use undo::Undos;

/// So long a look at the changes may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// So many look at once; the others wait.
pub(crate) const LOOKING: usize = 2;

/// What the changes are counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// The beginning of a turn, the last one where none is named.
    Turn,
    /// The beginning of the session's first turn.
    Session,
    /// Where the work left the default branch.
    Base,
    /// The last commit.
    Head,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Git,
    /// What the agents say that they changed.
    Agents,
    /// Nothing is known.
    None,
}

#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct Changes {
    pub since: Since,
    pub source: Source,
    /// The project's name.
    pub project: String,
    pub branch: Option<String>,
    /// What the base is called.
    pub base: Option<String>,
    /// The same as long as nothing changes.
    pub version: String,
    /// There is more than is listed or shown here.
    pub cut: bool,
    pub total_files: u32,
    pub total_additions: u32,
    pub total_deletions: u32,
    /// What this session's agents changed; the totals are of these.
    pub files: Vec<FileChange>,
    /// What changed meanwhile and cannot be attributed to them, without lines: these may be asked for. Never counted.
    pub meanwhile: Vec<MeanwhileChange>,
    /// What it makes sense to count from here.
    pub sinces: Vec<Since>,
}

/// A file that no agent of the session wrote.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct MeanwhileChange {
    #[serde(flatten)]
    pub file: FileChange,
    /// Sessions in the same directory that are credited with changes of it.
    pub by: Vec<OtherSession>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct OtherSession {
    pub id: SessionId,
    pub title: String,
}

/// The project that the server works in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = ProjectView)]
pub struct ProjectView {
    pub name: String,
    pub work_dir: String,
    pub branch: Option<String>,
    /// What is not committed; none where there is no repository or it is too large to be looked at.
    pub changes: Option<Counted>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct Counted {
    pub files: u32,
    pub additions: u32,
    pub deletions: u32,
}

/// Which changes are meant.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    pub since: Since,
    pub turn: Option<TurnId>,
}

/// The two states, opened and compared; or what the agents tell.
enum Looked {
    Git { checkout: Box<Checkout>, comparison: Comparison, place: Place },
    Told { told: told::Told, place: Place },
}

/// What is known of the repository whatever is compared.
struct Place {
    branch: Option<String>,
    base: Option<String>,
    sinces: Vec<Since>,
}

impl Engine {
    pub async fn changes(&self, id: SessionId, scope: Scope, summary: bool) -> Result<Changes, Refusal> {
        let row = self.row(id).await?;
        let project = self.shared.settings.project_name(Path::new(&row.work_dir));
        self.within(async {
            match self.look(&row, scope).await? {
                Looked::Git { checkout, comparison, place } => {
                    let is_cut = comparison.is_cut();
                    let (own, others) = self.parted(&row, scope, &checkout, comparison).await?;
                    let files = if summary { own.summary() } else { checkout.files(&own).await.map_err(refused)? };
                    let meanwhile = self.with_writers(&row, others.summary()).await?;
                    let counts = (own.total_files(), own.additions(), own.deletions());
                    let cut = is_cut || files.iter().any(|file| file.too_large);
                    let version = format!("{}.{}", own.version, told::digest(&names(&files)));
                    Ok(filled(Changes { cut, version, meanwhile, ..nothing(scope, Source::Git, project, place) }, files, counts))
                }
                Looked::Told { told, place } => {
                    let source = if told.is_empty() { Source::None } else { Source::Agents };
                    let version = told.version();
                    let mut files = told.files();
                    let counts = told::counts(&files);
                    if summary {
                        files.iter_mut().for_each(|file| file.hunks.clear());
                    }
                    Ok(filled(Changes { version, ..nothing(scope, source, project, place) }, files, counts))
                }
            }
        })
        .await
    }

    /// One file with all its lines.
    pub async fn changed_file(&self, id: SessionId, scope: Scope, path: &str) -> Result<FileChange, Refusal> {
        let row = self.row(id).await?;
        self.within(async {
            let found = match self.look(&row, scope).await? {
                Looked::Git { checkout, comparison, .. } => checkout.file(&comparison, path).await.map_err(refused)?,
                Looked::Told { told, .. } => told.files().into_iter().find(|file| file.path == path),
            };
            found.ok_or(Refusal::NotFound("change"))
        })
        .await
    }

    /// Lines around a change, counted from 1.
    pub async fn changed_lines(
        &self,
        id: SessionId,
        scope: Scope,
        path: &str,
        side: Side,
        (from, to): (u32, u32),
    ) -> Result<FileLines, Refusal> {
        let row = self.row(id).await?;
        self.within(async {
            let found = match self.look(&row, scope).await? {
                Looked::Git { checkout, comparison, .. } => checkout.lines(&comparison, path, side, from, to).await.map_err(refused)?,
                Looked::Told { told, .. } => told.text(path, side).map(|text| FileLines::of(&text, from, to)),
            };
            found.ok_or(Refusal::NotFound("change"))
        })
        .await
    }

    /// Takes back a file or one hunk of it. `version` is that of the changes or the digest of the file, whichever was shown.
    pub async fn revert_change(
        &self,
        id: SessionId,
        scope: Scope,
        path: &str,
        hunk: Option<usize>,
        version: &str,
    ) -> Result<Uuid, Refusal> {
        let row = self.row(id).await?;
        self.within(async {
            let moved = || Refusal::Changed(format!("{path} has changed since it was shown: review it again"));
            let undo = match self.look(&row, scope).await? {
                Looked::Git { checkout, comparison, .. } => {
                    let digest = comparison.digest(path).ok_or_else(moved)?;
                    let of_all = version.split_once('.').map_or(version, |(trees, _)| trees);
                    if version != digest && of_all != comparison.version {
                        return Err(moved());
                    }
                    checkout.revert(&comparison, path, hunk).await?
                }
                Looked::Told { told, .. } => {
                    let (digest, old, new) = told.only(path).ok_or_else(moved)?;
                    if version != digest && version != told.version() {
                        return Err(moved());
                    }
                    tools::revert_text(Path::new(&row.work_dir), path, old.as_deref(), &new, hunk).await?
                }
            };
            Ok(self.shared.undos.keep(id, undo))
        })
        .await
    }

    /// Puts back what was taken back, as long as it is remembered.
    pub async fn undo_revert(&self, id: SessionId, undo: Uuid) -> Result<(), Refusal> {
        self.row(id).await?;
        let undo = self.shared.undos.take(id, undo).ok_or(Refusal::NotFound("undo"))?;
        let done = tokio::task::spawn_blocking(move || undo.run()).await;
        done.map_err(|_| Refusal::Invalid("the files could not be put back".to_owned()))?.map_err(Refusal::from)
    }

    /// Commits the files of these names, or what the session's agents changed.
    pub async fn commit_changes(&self, id: SessionId, message: &str, paths: Option<&[String]>) -> Result<Commit, Refusal> {
        let row = self.row(id).await?;
        let own = match paths {
            Some(_) => None,
            None => Some(names(&self.changes(id, Scope { since: Since::Head, turn: None }, true).await?.files)),
        };
        let paths = paths.or(own.as_deref());
        self.within(async {
            let checkout = Checkout::open(Path::new(&row.work_dir), None).await.map_err(Refusal::Conflict)?;
            let commit = checkout.commit(message, paths).await?;
            if commit.index_is_stale {
                tracing::warn!(session = %id, "a commit was made while another git held the index, which does not know of it");
            }
            Ok(commit)
        })
        .await
    }

    /// The server's own work directory.
    pub async fn project(&self) -> Result<ProjectView, Refusal> {
        let work_dir = self.shared.settings.work_dir.clone();
        let name = self.shared.settings.project_name(&work_dir);
        let shown = work_dir.to_string_lossy().into_owned();
        let nothing = ProjectView { name, work_dir: shown, branch: None, changes: None };
        self.within(async {
            let Ok(checkout) = Checkout::open(&work_dir, None).await else { return Ok(nothing.clone()) };
            let branch = checkout.branch().await;
            let compared = async {
                let now = checkout.now().await?;
                checkout.compare(&checkout.head().await?, &now.tree).await
            };
            let changes = compared.await.ok().map(|comparison| Counted {
                files: comparison.total_files(),
                additions: comparison.additions(),
                deletions: comparison.deletions(),
            });
            Ok(ProjectView { branch, changes, ..nothing.clone() })
        })
        .await
    }

    async fn look(&self, row: &SessionRow, scope: Scope) -> Result<Looked, Refusal> {
        let trees = self.shared.store.trees(row.id).await?;
        let kept = self.shared.settings.trees_dir(row.id);
        let Ok(checkout) = Checkout::open(Path::new(&row.work_dir), Some(&kept)).await else {
            return self.told(row, scope, Place { branch: None, base: None, sinces: vec![Since::Turn, Since::Session] }).await;
        };
        let base = checkout.base().await;
        let last = self.shared.store.latest_turn(row.id).await?.map(|turn| turn.id);
        let turn = scope.turn.or(last);
        let at = trees.iter().position(|tree| Some(tree.turn_id) == turn);
        let first = trees.iter().find_map(|tree| tree.before.clone());
        let mut sinces = vec![Since::Turn, Since::Session];
        sinces.extend(base.is_some().then_some(Since::Base));
        sinces.push(Since::Head);
        let (old, ended) = match scope.since {
            Since::Turn => {
                let tree = at.and_then(|at| trees.get(at));
                // Where a server was killed before the turn's end, the next turn began with what it left.
                let next = at.and_then(|at| trees.get(at + 1)).and_then(|tree| tree.before.clone());
                let ended = tree.and_then(|tree| tree.after.clone()).or(next);
                // What the last turn changed is looked at as it is now, so that what is taken back is gone from it.
                (tree.and_then(|tree| tree.before.clone()), ended.filter(|_| turn != last))
            }
            Since::Session => (first, None),
            Since::Base => (base.as_ref().map(|(commit, _)| commit.clone()), None),
            Since::Head => (Some(checkout.head().await.map_err(refused)?), None),
        };
        let place = Place { branch: checkout.branch().await, base: base.map(|(_, label)| label), sinces };
        let Some(old) = old else { return self.told(row, scope, place).await };
        let new = match ended {
            Some(tree) => tree,
            None => match checkout.now().await {
                Ok(taken) => taken.tree,
                Err(why) if matches!(scope.since, Since::Head | Since::Base) => return Err(refused(why)),
                Err(_) => return self.told(row, scope, place).await,
            },
        };
        match checkout.compare(&old, &new).await {
            Ok(comparison) => Ok(Looked::Git { checkout: Box::new(checkout), comparison, place }),
            // The repository may have cleared away what an old tree needs.
            Err(_) if matches!(scope.since, Since::Turn | Since::Session) => self.told(row, scope, place).await,
            Err(why) => Err(refused(why)),
        }
    }

    /// What the session's agents changed, and the rest.
    async fn parted(
        &self,
        row: &SessionRow,
        scope: Scope,
        checkout: &Checkout,
        comparison: Comparison,
    ) -> Result<(Comparison, Comparison), Refusal> {
        let turn = match scope.since {
            Since::Turn if scope.turn.is_none() => self.shared.store.latest_turn(row.id).await?.map(|turn| turn.id),
            Since::Turn => scope.turn,
            Since::Session | Since::Base | Since::Head => None,
        };
        let mut ledger = Ledger::read(&self.shared.store, row.id, turn).await?;
        if scope.since == Since::Head {
            ledger = ledger.without_committed(checkout).await;
        }
        let touched = checkout.touched(&comparison).await;
        Ok(comparison.part(&ledger.credited(&touched)))
    }

    /// With the sessions that may have written these files since this one began.
    async fn with_writers(&self, row: &SessionRow, files: Vec<FileChange>) -> Result<Vec<MeanwhileChange>, Refusal> {
        let mut writers: HashMap<String, Vec<OtherSession>> = HashMap::new();
        if !files.is_empty() {
            let found = self.shared.store.writers_beside(row.id, row.created_at.as_millisecond()).await?;
            for (path, id, title) in found {
                writers.entry(path).or_default().push(OtherSession { id, title });
            }
        }
        let with = |file: FileChange| MeanwhileChange { by: writers.remove(&file.path).unwrap_or_default(), file };
        Ok(files.into_iter().map(with).collect())
    }

    async fn told(&self, row: &SessionRow, scope: Scope, place: Place) -> Result<Looked, Refusal> {
        let told = match scope.since {
            Since::Turn | Since::Session => told::read(&self.shared.store, row, scope).await?,
            Since::Base | Since::Head => told::Told::default(),
        };
        Ok(Looked::Told { told, place })
    }

    /// A few at a time, and none for ever.
    async fn within<T>(&self, work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
        let late = || Refusal::Unavailable("reading the changes took too long: try again, or use git".to_owned());
        let bounded = async {
            let _permit = self.shared.looking.acquire().await.map_err(|_| Refusal::stopping())?;
            work.await
        };
        Box::pin(tokio::time::timeout(TIME_LIMIT, bounded)).await.map_err(|_| late())?
    }
}

impl Settings {
    /// Where the objects of a session's trees are.
    pub(crate) fn trees_dir(&self, session: SessionId) -> PathBuf {
        self.all_trees_dir().join(session.to_string())
    }

    pub(crate) fn all_trees_dir(&self) -> PathBuf {
        self.data_dir.join("trees")
    }

    fn project_name(&self, work_dir: &Path) -> String {
        let own = self.project_title.clone().filter(|_| work_dir == self.work_dir);
        own.unwrap_or_else(|| work_dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
    }
}

impl From<ChangeError> for Refusal {
    fn from(error: ChangeError) -> Refusal {
        match error {
            ChangeError::Changed(sentence) => Refusal::Changed(sentence),
            ChangeError::Refused(sentence) => Refusal::Conflict(sentence),
        }
    }
}

fn refused(sentence: String) -> Refusal {
    Refusal::Unavailable(sentence)
}

fn nothing(scope: Scope, source: Source, project: String, place: Place) -> Changes {
    Changes {
        since: scope.since,
        source,
        project,
        branch: place.branch,
        base: place.base,
        version: String::new(),
        cut: false,
        total_files: 0,
        total_additions: 0,
        total_deletions: 0,
        files: Vec::new(),
        meanwhile: Vec::new(),
        sinces: place.sinces,
    }
}

fn filled(changes: Changes, files: Vec<FileChange>, counts: (u32, u32, u32)) -> Changes {
    let (total_files, total_additions, total_deletions) = counts;
    Changes { files, total_files, total_additions, total_deletions, ..changes }
}

fn names(files: &[FileChange]) -> Vec<String> {
    files.iter().map(|file| file.path.clone()).collect()
}
