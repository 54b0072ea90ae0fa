import { expect, it } from "vitest";
import type { Ability, Agent } from "../api/types";
import { abilityNames, abilityText, can, sandboxText, standing, titleOf, unusable } from "./agents";
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
  ["one that failed can be tried again", makeAgent("a", { health: "failing" }), "Did not start", null],
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

it("an ability is told in words, with how it is known", () => {
  expect(abilityText(ability("a", "yes", "probe"))).toEqual({ words: "yes", tone: "yes", source: "tried" });
  expect(abilityText(ability("a", "no", "agent"))).toEqual({ words: "no", tone: "no", source: "it says so" });
  expect(abilityText(ability("a", "queues", "known"))).toEqual({
    words: "queues",
    tone: "yes",
    source: "known",
  });
  expect(abilityText(ability("a", "unknown", null))).toEqual({ words: "unknown", tone: "unknown", source: "" });
  expect(abilityText(ability("restores", "recap")).words).toBe("told again by us");
  expect(abilityText(undefined).words).toBe("unknown");
});

it("the columns are all abilities that any agent names, each once", () => {
  const agents = [
    makeAgent("a", { abilities: [ability("x", "yes")] }),
    makeAgent("b", { abilities: [ability("y", "yes"), ability("x", "yes")] }),
  ];
  expect(abilityNames(agents).map(({ id }) => id)).toEqual(["x", "y"]);
});

it("an agent is called by its short title, else by its id", () => {
  const agents = [makeAgent("copilot", { title: "GitHub Copilot" })];
  expect(titleOf(agents, "copilot")).toBe("Copilot");
  expect(titleOf(agents, "qwen")).toBe("qwen");
});
