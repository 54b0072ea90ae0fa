//! Files that git would change on their way in or out by a program or an encoding. Neither is used here, so such files are neither
//! reverted nor committed.

use std::collections::BTreeSet;

use super::checkout::Checkout;
use super::compare::shown;
use crate::{Refusal, bound};

impl Checkout {
    pub(super) async fn refuse_filtered(&self, paths: &[&[u8]]) -> Result<(), Refusal> {
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path);
            input.push(0);
        }
        let command = ["check-attr", "-z", "--stdin", "filter", "working-tree-encoding"];
        let printed = self.run(&command, Some(&input)).await?.succeeded("git check-attr")?;
        if printed.was_cut {
            return Err(Refusal::new("these are too many files at once"));
        }
        let fields: Vec<&[u8]> = printed.stdout.split(|byte| *byte == 0).collect();
        let is_set = |value: &[u8]| !matches!(value, b"unspecified" | b"unset" | b"");
        let filtered: BTreeSet<String> = fields.chunks_exact(3).filter(|entry| is_set(entry[2])).map(|entry| shown(entry[0])).collect();
        match filtered.first() {
            None => Ok(()),
            Some(path) => Err(Refusal::new(format!(
                "'{}' goes through a filter of git, such as that of Git LFS, which is not run here: use git itself for it",
                bound::name(path)
            ))),
        }
    }
}
