import { expect, it } from "vitest";
import { agentName, isDelegation } from "./delegation";
import type { StreamingToolCall } from "./model";
import { makeAgent } from "./testing/agent";

const agents = [makeAgent("copilot", { title: "GitHub Copilot" }), makeAgent("demo", { title: "Demo agent" })];
const call = (name: string, args: object, done: string | null = null) =>
  ({
    name,
    arguments: JSON.stringify(args),
    copilotDone: done === null ? null : { stopReason: "end_turn", summary: "", agent: done },
  }) as StreamingToolCall;

it("both tools that hand work to an agent are delegations", () => {
  expect(["copilot_agent", "delegate", "read_file"].map((name) => isDelegation({ name }))).toEqual([true, true, false]);
});

it.each([
  ["Copilot keeps its short name", call("copilot_agent", {}), agents, "copilot", "Copilot"],
  ["and has it before the agents are known", call("copilot_agent", {}), [], "copilot", "Copilot"],
  ["nobody is taken for it before the session is known", call("copilot_agent", {}), agents, undefined, "Agent"],
  ["the session's own agent has its title", call("copilot_agent", {}), agents, "demo", "Demo agent"],
  ["who worked on it decides", call("copilot_agent", {}, "copilot"), agents, "demo", "Copilot"],
  ["a call may name its agent", call("delegate", { agent: "demo" }), agents, "copilot", "Demo agent"],
  ["an unknown one is named by its id", call("delegate", { agent: "qwen" }), agents, "copilot", "qwen"],
  ["only the other tool names one", call("copilot_agent", { agent: "demo" }), agents, "copilot", "Copilot"],
  ["a call that forgot to", call("delegate", {}), agents, "copilot", "Agent"],
])("%s", (_, one, known, own, name) => {
  expect(agentName(one, known, own)).toBe(name);
});
