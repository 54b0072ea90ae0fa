//! Files of a session's work directory, for a person to look at.

use std::path::{Path, PathBuf};

use domain::ids::SessionId;
use tools::{FileError, FileView, Picture};

use crate::{Engine, Refusal};

impl Engine {
    pub async fn view_file(&self, id: SessionId, path: String) -> Result<FileView, Refusal> {
        self.in_work_dir(id, move |work_dir| tools::view(work_dir, &path)).await?.map_err(refused)
    }

    pub async fn view_picture(&self, id: SessionId, path: String) -> Result<Picture, Refusal> {
        self.in_work_dir(id, move |work_dir| tools::picture(work_dir, &path)).await?.map_err(refused)
    }

    /// Those of `paths` that can be looked at.
    pub async fn viewable(&self, id: SessionId, paths: Vec<String>) -> Result<Vec<String>, Refusal> {
        self.in_work_dir(id, move |work_dir| tools::viewable(work_dir, paths)).await
    }

    async fn in_work_dir<T: Send + 'static>(&self, id: SessionId, work: impl FnOnce(&Path) -> T + Send + 'static) -> Result<T, Refusal> {
        let work_dir = PathBuf::from(self.row(id).await?.work_dir);
        let done = tokio::task::spawn_blocking(move || work(&work_dir)).await;
        done.map_err(|_| Refusal::Unavailable("the file could not be read: try again".to_owned()))
    }
}

fn refused(error: FileError) -> Refusal {
    match error {
        FileError::Missing(_) => Refusal::NotFound("file"),
        FileError::Refused(sentence) => Refusal::Invalid(sentence),
    }
}
