//! One turn from the message to the answer: words, reasoning, a plan, commands, changes and what they cost.

use testkit::model_server::{Gate, Reply};

use crate::replies::{create, delegate, edit, plan, shell};
use crate::setup::{calls, said, start};

#[tokio::test]
async fn a_turn_streams_text_reasoning_plan_tools_and_usage_and_is_kept() {
    let mut setup = start().await;
    std::fs::write(setup.server.rig().work_dir().join("hello.txt"), "hello moon\n").unwrap();
    let gate = Gate::new();
    setup.main([delegate("greet", "Greet the world in hello.txt."), Reply::text("Codex greets the world now.")]);
    setup.coder([
        Reply::new()
            .and_thought("What is ")
            .and_thought("to be done?")
            .and_text("I look ")
            .and_text("at it 🙂. ")
            .and_call(plan(&[("look", "in_progress"), ("greet", "pending")]))
            .gate(&gate),
        Reply::new().and_call(shell("cat hello.txt; exit 3")),
        Reply::new().and_call(edit("hello.txt", "hello moon", "hello world")).and_call(create("note.md", "greeted")),
        Reply::text("The world is greeted.").usage(700, 40),
    ]);
    setup.send("go").await;
    gate.release(3);
    // Its model has said two words and is held: what is seen now was streamed.
    setup.until_written("greet", "I look ").await;
    assert_eq!(setup.coder_requests().len(), 1);
    gate.open();
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());

    assert_eq!((setup.read("hello.txt").as_str(), setup.read("note.md").as_str()), ("hello world\n", "greeted\n"));
    let thoughts: String = setup.updates("thought").iter().map(|update| update["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(thoughts, "What is to be done?");
    let plans = setup.updates("plan");
    let entries = plans.last().unwrap()["entries"].as_array().unwrap();
    let steps: Vec<_> = entries.iter().map(|entry| (entry["content"].as_str().unwrap(), entry["status"].as_str().unwrap())).collect();
    assert_eq!(steps, [("look", "stopped"), ("greet", "pending")]);
    let usage = setup.updates("usage").pop().unwrap();
    assert!(usage["size"].is_u64() && usage["used"].is_u64(), "{usage}");

    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["display"], setup.client.seen.agent_text("greet"));
    assert!(result["display"].as_str().unwrap().starts_with("I look at it 🙂. "), "{result}");
    assert!(result["display"].as_str().unwrap().ends_with("The world is greeted."), "{result}");
    let calls = calls(&result);
    let command = calls.iter().find(|call| call["kind"] == "execute").unwrap_or_else(|| panic!("{calls:?}"));
    assert_eq!(command["exit_code"], 3, "{command}");
    assert!(calls.iter().any(|call| call.to_string().contains("hello moon")), "what the command printed: {calls:?}");
    let edits: Vec<_> = calls.iter().filter(|call| call["kind"] == "edit").collect();
    assert_eq!(edits.len(), 2, "{calls:?}");
    assert!(edits.iter().any(|edit| edit.to_string().contains("hello world")), "{edits:?}");
    let told = setup.main_requests().last().unwrap().tool_results();
    assert!(told[0].contains("The world is greeted."), "{told:?}");
    setup.end().await;
}

#[tokio::test]
async fn a_follow_up_is_in_the_same_thread_and_the_same_process() {
    let mut setup = start().await;
    setup.exchange("talk", "remember the heron", "I shall.").await;
    let process = setup.processes().native();
    setup.exchange("talk", "which bird?", "The heron.").await;
    assert_eq!(setup.processes().native(), process);
    let asked = said(setup.coder_requests().last().unwrap());
    for words in ["remember the heron", "I shall.", "which bird?"] {
        assert!(asked.contains(words), "no `{words}` in {asked}");
    }
    assert_eq!(setup.client.seen.agent_text("talk"), "I shall.The heron.", "nothing is said twice");
    setup.end().await;
}
