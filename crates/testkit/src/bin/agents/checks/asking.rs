//! Who decides what an agent may do.

use super::{Finding, Outcome, expect, held};
use crate::driven::{Driven, Talk};
use crate::plan::{RUN, WRITE, WRITTEN};

/// Answers every question of the turn in the same way, and says how many there were.
pub(super) async fn answer_all(driven: &Driven, talk: &mut Talk, kind: &str) -> Result<usize, String> {
    let mut cards = 0;
    while let Some(question) = talk.asked().await {
        cards += 1;
        driven.choose(talk, &question, kind).await?;
    }
    Ok(cards)
}

/// Under `ask` a command makes one card, waits for its answer, and runs once.
pub(super) async fn allowed(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    driven.send(&talk, &format!("please {RUN}allowed")).await;
    let Some(question) = talk.asked().await else { return Err(format!("nobody was asked; ended {:?}", talk.ended())) };
    expect(driven.read("allowed.txt").is_none(), || "it ran before the answer".to_owned())?;
    driven.choose(&talk, &question, "allow_once").await?;
    let more = answer_all(driven, &mut talk, "allow_once").await?;
    expect(talk.ended().0 == "completed", || format!("ended {:?}", talk.ended()))?;
    expect(driven.read("allowed.txt").as_deref() == Some("ran\n"), || format!("the file holds {:?}", driven.read("allowed.txt")))?;
    expect(more == 0, || format!("{} cards for one command", more + 1))?;
    let shown = ["command", "title"].map(|field| question[field].as_str().unwrap_or_default());
    expect(shown.concat().contains("echo ran >> allowed.txt"), || format!("the card does not show the command: {question}"))?;
    held()
}

/// Rejected, it does not run, and the call ends as denied.
pub(super) async fn rejected(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    driven.send(&talk, &format!("please {RUN}rejected")).await;
    let cards = answer_all(driven, &mut talk, "reject_once").await?;
    expect(driven.read("rejected.txt").is_none(), || "it ran all the same".to_owned())?;
    expect(cards == 1, || format!("{cards} cards for one command; ended {:?}", talk.ended()))?;
    expect(talk.stop_reason() == "denied", || format!("the call ended {}, the turn {:?}", talk.stop_reason(), talk.ended()))?;
    held()
}

/// Under `deny` neither a command nor a file comes through, and nobody is asked. An agent may be refused as a whole.
pub(super) async fn denied(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("deny").await;
    let mut asked = 0;
    for prompt in [format!("please {RUN}denied"), format!("please {WRITE}denied")] {
        driven.send(&talk, &prompt).await;
        asked += answer_all(driven, &mut talk, "reject_once").await?;
        let left = driven.read("denied.txt");
        expect(left.is_none(), || format!("after `{prompt}` the file holds {left:?}"))?;
    }
    expect(asked == 0, || format!("{asked} questions"))?;
    let (state, reason) = talk.ended();
    Ok(Finding::Held(if state == "failed" { reason } else { String::new() }))
}

/// A new file with exactly this content, for at most one card.
pub(super) async fn file(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    driven.send(&talk, &format!("please {WRITE}file")).await;
    let cards = answer_all(driven, &mut talk, "allow_once").await?;
    expect(talk.ended().0 == "completed", || format!("ended {:?}", talk.ended()))?;
    expect(driven.read("file.txt").as_deref() == Some(WRITTEN), || format!("the file holds {:?}", driven.read("file.txt")))?;
    expect(cards == 1, || format!("{cards} cards for one file"))?;
    held()
}
