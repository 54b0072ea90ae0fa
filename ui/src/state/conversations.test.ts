import { expect, it } from "vitest";
import type { Conversation, ConversationList } from "../api/types";
import { agentsOf, isElsewhere, wantedOf } from "./conversations";

const one = (title: string, agent: string, session_id: string | null = "s"): Conversation => ({
  title,
  agent,
  session_id,
  state: session_id === null ? "stored" : "idle",
});
const list: ConversationList = {
  directories: [
    { work_dir: "/w/parcel", conversations: [one("Fix the Parser", "codex"), one("Notes", "demo", null)] },
    { work_dir: "/w/other", conversations: [one("Release notes", "demo")] },
  ],
  agents: [],
};
const titles = (text: string, agent = "") =>
  wantedOf(list, { text, agent }).map(({ work_dir, conversations }) => [
    work_dir,
    ...conversations.map(({ title }) => title),
  ]);

it("the filter looks at titles and folders, every word of it, and leaves out empty folders", () => {
  expect(titles("")).toEqual([
    ["/w/parcel", "Fix the Parser", "Notes"],
    ["/w/other", "Release notes"],
  ]);
  expect(titles("parser fix")).toEqual([["/w/parcel", "Fix the Parser"]]);
  expect(titles("NOTES")).toEqual([
    ["/w/parcel", "Notes"],
    ["/w/other", "Release notes"],
  ]);
  expect(titles("other")).toEqual([["/w/other", "Release notes"]]);
  expect(titles("", "codex")).toEqual([["/w/parcel", "Fix the Parser"]]);
  expect(titles("notes", "codex")).toEqual([]);
});

it("its agents are those that appear in it, each once", () => {
  expect(agentsOf(list)).toEqual(["codex", "demo"]);
});

it("what has no session of ours exists only with its agent", () => {
  expect(list.directories[0]?.conversations.map(isElsewhere)).toEqual([false, true]);
});
