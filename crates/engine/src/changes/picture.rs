//! Images among what changed: the side before comes from where the lines before come from.

use domain::ids::SessionId;
use tools::{Picture, Side};

use super::{Looked, Scope, refused};
use crate::{Engine, Refusal};

impl Engine {
    pub async fn changed_picture(&self, id: SessionId, scope: Scope, path: &str, side: Side) -> Result<Picture, Refusal> {
        let row = self.row(id).await?;
        self.within(async {
            let found = match self.look(&row, scope).await? {
                Looked::Git { checkout, comparison, .. } => checkout.picture(&comparison, path, side).await.map_err(refused)?,
                Looked::Told { .. } => None,
            };
            found.ok_or(Refusal::NotFound("image"))
        })
        .await
    }
}
