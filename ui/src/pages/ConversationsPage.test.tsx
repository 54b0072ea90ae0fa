import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import { pagesApi } from "../api/pages";
import type { Conversation, ConversationList } from "../api/types";
import { makeAgent } from "../state/testing/agent";
import { ConversationsPage } from "./ConversationsPage";

const agents = [makeAgent("demo", { title: "Demo agent" }), makeAgent("codex", { title: "Codex" })];
const ours: Conversation = { title: "Fix it", agent: "demo", session_id: "s-1", state: "waiting" };
const theirs: Conversation = { title: "In a terminal", agent: "codex", agent_session_id: "x", state: "stored" };
const before: ConversationList = { directories: [{ work_dir: "/w/parcel", conversations: [ours] }], agents: [] };
const after: ConversationList = {
  directories: [{ work_dir: "/w/parcel", conversations: [ours, theirs] }],
  agents: [
    { agent: "codex", looked: true },
    { agent: "gemini", looked: false, problem: "it is not logged in" },
  ],
};

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

async function open(onContinue = vi.fn(async (_: Conversation) => {})) {
  vi.spyOn(pagesApi, "conversations").mockResolvedValue(before);
  dispose = render(
    () => <ConversationsPage agents={agents} onMenu={() => {}} onContinue={onContinue} />,
    document.body,
  );
  await vi.waitFor(() => expect(rows()).toHaveLength(1));
  return onContinue;
}
const rows = () => [...document.querySelectorAll(".conversation")].map((row) => row.textContent);
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((one) => (one.ariaLabel ?? one.textContent?.trim()) === name);

it("ours are links below their directory, with agent and state", async () => {
  await open();
  expect(document.querySelector(".conversation-directory h2")?.textContent).toBe("parcel /w/parcel");
  expect(rows()).toEqual(["Fix itDemo agent needs you"]);
  expect(document.querySelector("a.conversation-title")?.getAttribute("href")).toBe("#/sessions/s-1");
});

it("the agents are asked on demand: what they have is marked and can be continued, who cannot be asked says why", async () => {
  let answer = (_: ConversationList) => {};
  vi.spyOn(pagesApi, "askAgents").mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const onContinue = await open();
  button("Ask the agents")?.click();
  expect(document.querySelector("[role=status]")?.textContent).toContain("Starting the agents");
  expect(button("Ask the agents")?.disabled).toBe(true);
  // Somebody who comes back to the page meanwhile takes nothing away.
  window.dispatchEvent(new Event("focus"));
  answer(after);
  await vi.waitFor(() => expect(rows()).toHaveLength(2));
  expect(rows()[1]).toContain("In a terminalonly with Codex");
  expect(document.querySelector(".conversation-problems")?.textContent).toBe("gemini it is not logged in");
  button("Resume here: In a terminal")?.click();
  expect(onContinue).toHaveBeenCalledExactlyOnceWith(theirs);
});

it("what cannot be continued is told", async () => {
  vi.spyOn(pagesApi, "askAgents").mockResolvedValue(after);
  await open(vi.fn(() => Promise.reject(new Error("it goes on in a terminal"))));
  button("Ask the agents")?.click();
  await vi.waitFor(() => expect(rows()).toHaveLength(2));
  button("Resume here: In a terminal")?.click();
  await vi.waitFor(() => expect(document.querySelector("[role=alert]")?.textContent).toBe("it goes on in a terminal"));
});

it("a filter that nothing fits says so", async () => {
  await open();
  const filter = document.querySelector<HTMLInputElement>("input[type=search]");
  if (!filter) throw new Error("no filter");
  filter.value = "nothing like it";
  filter.dispatchEvent(new InputEvent("input", { bubbles: true }));
  expect(rows()).toEqual([]);
  expect(document.body.textContent).toContain("No matches.");
});
