// One scripted turn: some talk, a tool or two, a delegation that plans, edits, runs and asks.

import { randomUUID } from "node:crypto";
import { emit, render } from "./sessions.mjs";

const pace_ms = Number(process.env.MOCK_PACE_MS ?? 30);
const pause = (factor = 1) => new Promise((resolve) => setTimeout(resolve, pace_ms * factor));

const diff = `diff --git a/src/greet.rs b/src/greet.rs
--- a/src/greet.rs
+++ b/src/greet.rs
@@ -1,5 +1,6 @@
 pub fn greet(name: &str) -> String {
-    format!("Hello {name}")
+    let name = name.trim();
+    format!("Hello, {name}!")
 }
 
 pub fn leave() {}
`;

class Stopped extends Error {}

export async function runTurn(session, message) {
  const turn_id = randomUUID();
  session.turn = turn_id;
  session.stopped = false;
  session.messages.push({ ...message, turn_id });
  emit(session, "message", { ...message, turn_id });
  emit(session, "turn", { turn_id, state: "running" });
  try {
    if (message.content.includes("fail")) throw new Error("The model answered with status 500.");
    const first = await speak(session, `I will look at \`src/greet.rs\` first, then hand the change to **Copilot**.`);
    await plainTool(session, first);
    const step = { id: randomUUID(), content: "" };
    await delegate(session, step, message.content);
    await reviewTool(session);
    const last = await speak(session, closing);
    finishText(session, last, []);
    emit(session, "message", session.messages.at(-1));
    emit(session, "done", { turn_id, message_id: last.id, model: "mock", html: render(last.content) });
    endTurn(session, turn_id, "completed");
  } catch (error) {
    if (!(error instanceof Stopped)) emit(session, "error", { turn_id, code: "model", message: error.message });
    endTurn(session, turn_id, error instanceof Stopped ? "cancelled" : "failed");
  }
  const next = session.queue.shift();
  if (next) {
    emit(session, "queue", { items: session.queue });
    const { message_id: id, content, client_id, created_at } = next;
    await runTurn(session, { id, role: "user", content, client_id, created_at });
  }
}

const closing = `Done. The greeting is trimmed and friendlier now:

\`\`\`rust
let name = name.trim();
format!("Hello, {name}!")
\`\`\`

- \`greet\` trims its argument
- all **12 tests** pass

Is there anything else you would like to change?`;

function endTurn(session, turn_id, state) {
  session.turn = null;
  session.openText = null;
  session.permissions.clear();
  session.confirms.clear();
  emit(session, "turn", { turn_id, state });
}

function check(session) {
  if (session.stopped) throw new Stopped();
}

async function speak(session, content) {
  const text = { id: randomUUID(), content: "" };
  session.openText = text;
  for (const word of content.split(/(?<=\s)/)) {
    await pause();
    check(session);
    emit(session, "text-delta", { message_id: text.id, offset: text.content.length, content: word });
    text.content += word;
  }
  return text;
}

function finishText(session, text, tool_calls) {
  session.openText = null;
  const message = { id: text.id, role: "assistant", content: text.content, created_at: new Date().toISOString() };
  session.messages.push({ ...message, html: render(text.content), tool_calls });
}

function startCall(session, name, args, extra = {}) {
  const call = { id: `call_${randomUUID().slice(0, 8)}`, name, arguments: JSON.stringify(args), ...extra };
  session.openCalls.set(call.id, call);
  emit(session, "tool-call", { id: call.id, name, arguments: call.arguments });
  return call;
}

function endCall(session, call, result, extra = {}) {
  session.openCalls.delete(call.id);
  const created_at = new Date().toISOString();
  session.messages.push({ id: randomUUID(), role: "tool", tool_call_id: call.id, created_at, ...result, ...extra });
  emit(session, "tool-result", { id: call.id, name: call.name, is_error: false, ...result });
}

async function plainTool(session, text) {
  const call = startCall(session, "read_file", { path: "src/greet.rs", limit: 40 });
  finishText(session, text, [call]);
  await pause(8);
  endCall(session, call, { content: 'pub fn greet(name: &str) -> String {\n    format!("Hello {name}")\n}\n' });
  const outside = startCall(session, "read_file_external", { path: "/etc/hostname" });
  finishText(session, { id: randomUUID(), content: "" }, [outside]);
  await new Promise((resolve) => {
    const data = { id: outside.id, name: outside.name, arguments: outside.arguments };
    session.confirms.set(outside.id, { data, resolve });
    emit(session, "tool-confirm", data);
  });
  check(session);
  endCall(session, outside, { content: "demo-host\n" });
}

async function reviewTool(session) {
  const call = startCall(session, "git_diff", {});
  finishText(session, { id: randomUUID(), content: "" }, [call]);
  await pause(5);
  const files = [{ path: "src/greet.rs", status: "modified", additions: 2, deletions: 1 }];
  const artifact = {
    artifact_id: randomUUID(),
    title: "Changes in the work folder",
    status: "pending",
    total_files: 1,
    total_additions: 2,
    total_deletions: 1,
    files,
  };
  session.artifacts.push({ ...artifact, diff });
  emit(session, "review-artifact", artifact);
  endCall(session, call, { content: "1 file changed", artifact_id: artifact.artifact_id });
}

async function delegate(session, step, prompt) {
  const session_name = "greeting";
  const call = startCall(session, "copilot_agent", { prompt, session_name }, { session_name, text: "", updates: [] });
  finishText(session, step, [call]);
  const common = { tool_call_id: call.id, session_name };
  const say = async (content) => {
    for (const word of content.split(/(?<=\s)/)) {
      await pause();
      check(session);
      emit(session, "copilot-delta", { ...common, offset: call.text.length, content: word });
      call.text += word;
    }
  };
  const update = (update) => {
    const known = call.updates.find((placed) => update.id !== undefined && placed.update.id === update.id);
    const placed = { offset: known?.offset ?? call.text.length, update };
    if (known) known.update = update;
    else call.updates.push(placed);
    emit(session, "agent-update", { ...common, ...placed });
  };
  try {
    await work(session, common, say, update);
  } catch (error) {
    finishDelegation(session, call, common, "cancelled");
    throw error;
  }
  finishDelegation(session, call, common, "end_turn");
}

function finishDelegation(session, call, common, stop_reason) {
  const summary = stop_reason === "end_turn" ? "Trimmed the name in greet() and ran the tests." : "Stopped.";
  emit(session, "copilot-done", { ...common, summary, stop_reason });
  const delegation = { session_name: common.session_name, stop_reason, summary, updates: call.updates };
  endCall(session, call, { content: summary, display: call.text }, { delegation });
}

async function work(session, common, say, update) {
  const plan = (...states) => ({
    type: "plan",
    entries: ["Read the code", "Change greet()", "Run the tests"].map((content, index) => ({
      content,
      priority: index === 1 ? "high" : "medium",
      status: states[index],
    })),
  });
  update({ type: "usage", used: 12_400, size: 128_000 });
  update({ type: "thought", text: "The person wants a friendlier greeting. " });
  await pause(4);
  update({ type: "thought", text: "I should look at how greet() is called." });
  update(plan("in_progress", "pending", "pending"));
  await say("Looking at the code that makes the greeting.\n");
  const read = { type: "tool_call", id: "t1", title: "Reading src/greet.rs", kind: "read" };
  update({ ...read, status: "in_progress", locations: [{ path: "src/greet.rs", line: 1 }] });
  await pause(8);
  const content = [{ type: "text", text: "pub fn greet(name: &str) -> String { … }" }];
  update({ ...read, status: "completed", locations: [{ path: "src/greet.rs", line: 1 }], content });
  update(plan("completed", "in_progress", "pending"));
  await say("It keeps the spaces around the name. I will trim them and add the comma 🙂.\n");
  if (session.info.permission_policy === "ask") await askToEdit(session, common);
  check(session);
  update({
    type: "tool_call",
    id: "t2",
    title: "Editing src/greet.rs",
    kind: "edit",
    status: "completed",
    locations: [{ path: "src/greet.rs" }],
    content: [
      {
        type: "diff",
        path: "src/greet.rs",
        old_text: 'pub fn greet(name: &str) -> String {\n    format!("Hello {name}")\n}\n',
        new_text:
          'pub fn greet(name: &str) -> String {\n    let name = name.trim();\n    format!("Hello, {name}!")\n}\n',
      },
    ],
  });
  update(plan("completed", "completed", "in_progress"));
  await say("Now the tests.\n");
  const test = {
    type: "tool_call",
    id: "t3",
    title: "Run the tests",
    kind: "execute",
    input: { command: "cargo test" },
  };
  for (let count = 0; count <= 12; count += 4) {
    update({ ...test, status: "in_progress", content: [{ type: "text", text: `running ${count} of 12 tests` }] });
    await pause(6);
  }
  const output = [{ type: "text", text: "running 12 tests\n............\ntest result: ok. 12 passed; 0 failed" }];
  update({ ...test, status: "completed", exit_code: 0, content: output });
  update(plan("completed", "completed", "completed"));
  await say("All 12 tests pass. The greeting is trimmed and has its comma.");
}

async function askToEdit(session, common) {
  const request_id = randomUUID();
  await new Promise((resolve) => {
    const data = {
      ...common,
      request_id,
      title: "Edit src/greet.rs",
      kind: "edit",
      diff,
      locations: [{ path: "src/greet.rs", line: 2 }],
      options: [
        { option_id: "allow_once", name: "Allow once", kind: "allow_once" },
        { option_id: "allow_always", name: "Always allow", kind: "allow_always" },
        { option_id: "reject_once", name: "Deny", kind: "reject_once" },
      ],
    };
    session.permissions.set(request_id, { data, resolve });
    emit(session, "permission-request", data);
  });
}
