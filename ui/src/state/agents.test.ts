import { expect, it } from "vitest";
import type { Ability, Agent } from "../api/types";
import { abilityNames, abilityText, agentChoices, can, standing, titleOf, unusable } from "./agents";

const agent = (id: string, fields: Partial<Agent> = {}): Agent => ({
  id,
  title: id,
  installed: true,
  health: "ok",
  ...fields,
});
const ability = (id: string, value: Ability["value"], source: Ability["source"] = "agent"): Ability => ({
  id,
  title: id,
  value,
  source,
});

it.each<[string, Agent, string, string | null]>([
  ["one that works", agent("a"), "Ready", null],
  ["one that is not there", agent("a", { installed: false, health: "missing" }), "Not installed", "not installed"],
  ["one that wants a login can be chosen", agent("a", { health: "login_required" }), "Login needed", null],
  ["one that failed can be tried again", agent("a", { health: "failing" }), "Did not start", null],
  ["one without its sandbox", agent("a", { sandbox: "unavailable" }), "No sandbox here", "no sandbox here"],
  ["a word that is new", agent("a", { health: "too_old" }), "too old", null],
])("%s", (_, one, words, reason) => {
  expect(standing(one).words).toBe(words);
  expect(unusable(one)).toBe(reason);
});

it("those that cannot be used are there with the reason, and a chosen one that is gone as well", () => {
  const agents = [agent("demo", { title: "Demo agent" }), agent("codex", { title: "Codex", installed: false })];
  expect(agentChoices(agents, "gone")).toEqual([
    { id: "gone", label: "gone", disabled: false },
    { id: "demo", label: "Demo agent", disabled: false },
    { id: "codex", label: "Codex (not installed)", disabled: true },
  ]);
  expect(agentChoices(agents, "demo")).toHaveLength(2);
});

it.each<[Ability["value"], boolean | null]>([
  [true, true],
  ["yes", true],
  ["queues", true],
  [false, false],
  ["no", false],
  [null, null],
  ["unknown", null],
])("an ability of %s", (value, able) => {
  const one = agent("a", { abilities: [ability("images", value)] });
  expect(can(one, "images")).toBe(able);
  expect(can(one, "list"), "what is not named is not known").toBeNull();
  expect(can(undefined, "images")).toBeNull();
});

it("an ability is told in words, with how it is known", () => {
  expect(abilityText(ability("a", true, "probe"))).toEqual({ words: "yes", tone: "yes", source: "tried" });
  expect(abilityText(ability("a", "no", "agent"))).toEqual({ words: "no", tone: "no", source: "it says so" });
  expect(abilityText(ability("a", "queues", "known"))).toEqual({
    words: "queues",
    tone: "yes",
    source: "as documented",
  });
  expect(abilityText(ability("a", null, null))).toEqual({ words: "unknown", tone: "unknown", source: "" });
  expect(abilityText(ability("restores", "recap")).words).toBe("told again by us");
  expect(abilityText(undefined).words).toBe("unknown");
});

it("the columns are all abilities that any agent names, each once", () => {
  const agents = [
    agent("a", { abilities: [ability("x", true)] }),
    agent("b", { abilities: [ability("y", true), ability("x", true)] }),
  ];
  expect(abilityNames(agents).map(({ id }) => id)).toEqual(["x", "y"]);
});

it("an agent is called by its short title, else by its id", () => {
  const agents = [agent("copilot", { title: "GitHub Copilot" })];
  expect(titleOf(agents, "copilot")).toBe("Copilot");
  expect(titleOf(agents, "qwen")).toBe("qwen");
});
