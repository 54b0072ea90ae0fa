//! What an agent says of its work and of itself: each is shown as what it is.

use crate::rig::{Rig, of_kind};

/// An answer of the model that begins like an error is an answer.
#[tokio::test(flavor = "multi_thread")]
async fn text_that_begins_like_an_error_is_text() {
    let rig = Rig::replies([]).await;
    for prompt in ["error-text", "error-text pieces"] {
        let session = rig.relay().await;
        let (state, client) = rig.turn(&session, prompt).await;
        assert_eq!(state, "completed", "{prompt}:\n{}", client.seen.tail());
        let text = client.seen.agent_text("main");
        assert_eq!(text, "Error: that is what the test says in line 3. The fix is to close the file first.", "{prompt}");
        assert_eq!(of_kind(&client, "error").len(), 0, "{prompt}");
        let stored = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
        assert_eq!(stored["messages"].as_array().unwrap().last().unwrap()["content"], text, "{prompt}");
    }
}

/// C31: what a turn has cost is in the result of its prompt, and is shown.
#[tokio::test(flavor = "multi_thread")]
async fn usage_in_the_result_of_a_prompt_is_shown() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "usage-in-result").await;
    assert_eq!(state, "completed");
    let shown = of_kind(&client, "agent-update").into_iter().map(|event| &event.data["update"]).find(|update| update["type"] == "usage");
    let shown = shown.unwrap_or_else(|| panic!("no usage:\n{}", client.seen.tail()));
    let text = shown.to_string();
    for (name, count) in [("input", 300), ("output", 60)] {
        assert!(text.contains(name) && text.contains(&count.to_string()), "{name}: {text}");
    }
    let stored = rig.get(&format!("/api/sessions/{session}/messages")).await.text;
    assert!(stored.contains("300"), "and it is there again after a reload: {stored}");
}
