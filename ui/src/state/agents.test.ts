import { expect, it } from "vitest";
import type { Ability, Agent } from "../api/types";
import { abilityFacts, can, isBusy, sandboxText, standing, summaryOf, titleOf, unusable } from "./agents";
import { makeAgent } from "./testing/agent";

const ability = (id: string, value: Ability["value"], source: Ability["source"] = "agent"): Ability => ({
  id,
  title: id,
  value,
  source,
});

it.each<[string, Agent, string, string | null]>([
  ["one that works", makeAgent("a"), "Ready", null],
  ["one that is not there", makeAgent("a", { installed: false, health: "missing" }), "Not installed", "not installed"],
  ["one that wants a login can be chosen", makeAgent("a", { health: "login_required" }), "Signed out", null],
  ["one that failed can be tried again", makeAgent("a", { health: "failing" }), "Failed to start", null],
  ["one without its sandbox", makeAgent("a", { sandbox: "unavailable" }), "No sandbox here", "no sandbox here"],
  ["a word that is new", makeAgent("a", { health: "too_old" }), "too old", null],
])("%s", (_, one, words, reason) => {
  expect(standing(one).words).toBe(words);
  expect(unusable(one)).toBe(reason);
});

it("a sandbox says what it does not cover here", () => {
  expect(sandboxText(makeAgent("a"))).toBe("");
  expect(sandboxText(makeAgent("a", { sandbox: "unavailable" }))).toBe("");
  expect(sandboxText(makeAgent("a", { sandbox: "landlock" }))).toBe("Runs in a sandbox.");
  const open = makeAgent("a", { sandbox: "landlock", sandbox_open: ["metadata", "sockets", "new"] });
  expect(sandboxText(open)).toContain("on this machine: file modes, owners and times, Unix sockets, new. See");
});

it.each<[Ability["value"], boolean | null]>([
  ["yes", true],
  ["queues", true],
  ["no", false],
  ["unknown", null],
])("an ability of %s", (value, able) => {
  const one = makeAgent("a", { abilities: [ability("images", value)] });
  expect(can(one, "images")).toBe(able);
  expect(can(one, "list"), "what is not named is not known").toBeNull();
  expect(can(undefined, "images")).toBeNull();
});

it("only what was tried or what an agent says is told, with how it is known", () => {
  const agent = makeAgent("a", {
    abilities: [
      ability("restores", "loaded", "probe"),
      ability("cancels", "no", "probe"),
      ability("images", "yes", "agent"),
      ability("audio", "no", "agent"),
      ability("login", "yes", "known"),
      ability("lists", "unknown", null),
    ],
    tested: { at: "2026-11-19T10:00:00Z", version: "1.0" },
  });
  expect(abilityFacts(agent)).toEqual([
    { words: "restores, with everything", tone: "yes", source: "tested" },
    { words: "cancels", tone: "failed", source: "tested" },
    { words: "images", tone: "yes", source: "reported by agent" },
    { words: "audio", tone: "no", source: "reported by agent" },
  ]);
  expect(summaryOf(agent, Date.parse("2026-11-19T10:00:30Z"))).toBe("2 of 4 · 1 failed · tested just now");
  expect(summaryOf(makeAgent("a"))).toBe("not tested");
});

it("one is busy while it is tested, and not when that has failed", () => {
  const chore = { kind: "test", step: "", done: 0, of: 7, since: "2026-11-19T10:00:00Z" };
  expect(isBusy(makeAgent("a"))).toBe(false);
  expect(isBusy(makeAgent("a", { chore }))).toBe(true);
  expect(isBusy(makeAgent("a", { chore: { ...chore, problem: "it ended" } }))).toBe(false);
});

it("an agent is called by its short title, else by its id", () => {
  const agents = [makeAgent("copilot", { title: "GitHub Copilot" })];
  expect(titleOf(agents, "copilot")).toBe("Copilot");
  expect(titleOf(agents, "qwen")).toBe("qwen");
});
