//! Between the model's tool calls, the tools, and the turn.

use std::collections::{HashMap, HashSet};

use domain::event::{ReviewArtifact, ReviewFile, ToolCall};
use domain::ids::{ArtifactId, MessageId};
use domain::turn::ToolEnd;
use uuid::Uuid;

/// Gives every call an id that no other call of the session has. Models repeat ids, leave them out, or use the same twice in one answer.
pub(crate) fn unique(calls: Vec<model::ToolCall>, message_id: MessageId, taken: &mut HashSet<String>) -> Vec<ToolCall> {
    let give = |(index, call): (usize, model::ToolCall)| {
        let usable = !call.id.is_empty() && call.id.len() <= 64 && !taken.contains(&call.id);
        let derived = || format!("call_{}", Uuid::new_v5(&message_id.0, &index.to_be_bytes()).simple());
        let id = if usable { call.id } else { derived() };
        taken.insert(id.clone());
        ToolCall { id, name: call.name, arguments: call.arguments }
    };
    calls.into_iter().enumerate().map(give).collect()
}

/// A tool's output as the turn takes it; a review is kept aside until its artifact is stored.
pub(crate) fn end(output: tools::Output, reviews: &mut HashMap<ArtifactId, tools::Review>) -> ToolEnd {
    let artifact = output.review.map(|review| {
        let artifact = artifact(&review);
        reviews.insert(artifact.artifact_id, review);
        artifact
    });
    ToolEnd { content: output.content, display: output.display, is_error: output.is_error, artifact }
}

fn artifact(review: &tools::Review) -> ReviewArtifact {
    ReviewArtifact {
        artifact_id: ArtifactId(Uuid::now_v7()),
        title: review.title.clone(),
        status: "open".to_owned(),
        total_files: u32::try_from(review.files.len()).unwrap_or(u32::MAX),
        total_additions: review.files.iter().map(|file| file.additions).sum(),
        total_deletions: review.files.iter().map(|file| file.deletions).sum(),
        files: review
            .files
            .iter()
            .map(|file| ReviewFile {
                path: file.path.clone(),
                status: file.status.clone(),
                additions: file.additions,
                deletions: file.deletions,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_and_missing_ids_are_replaced() {
        let message_id = MessageId(Uuid::nil());
        let mut taken = HashSet::from(["old".to_owned()]);
        let call = |id: &str| model::ToolCall { id: id.to_owned(), name: "n".to_owned(), arguments: String::new() };
        let calls = unique(vec![call("new"), call("old"), call(""), call("new")], message_id, &mut taken);
        assert_eq!(calls[0].id, "new");
        let distinct: HashSet<_> = calls.iter().map(|call| &call.id).collect();
        assert_eq!(distinct.len(), 4);
        assert!(!distinct.contains(&"old".to_owned()));
    }
}
