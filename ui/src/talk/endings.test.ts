// What every end of an agent's work is called, and that none of them is without a next step.

import { expect, it } from "vitest";
import type { Ending } from "../api/types";
import { endingDots } from "../kit/endingDots";
import { endingOf, endings } from "./endings";
import { type Facts, sayingOf } from "./sayings";

const of: Facts = { agent: "Codex", reason: "", files: 0 };
/** What is for the model, or for a program. */
const internal = /stop reason|closing message|agent_|[a-z]_[a-z]|undefined|refused:/;

function said(code: string, result = "") {
  const { says } = endingOf(code, result);
  return says && sayingOf(says);
}

const server: Record<string, string> = import.meta.glob("../../../crates/{domain,engine}/src/**/*.rs", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The server's own sources name them; agents add the stop reasons of the protocol. */
function codesOfServer(): string[] {
  const text = Object.entries(server)
    .filter(([path]) => !path.includes("/tests"))
    .map(([, source]) => source)
    .join("\n");
  const patterns = [
    /AgentEnd::failed\(\s*"(\w+)"/g,
    /Fault::\w+(?: \| Fault::\w+)* => "(\w+)"/g,
    /StartFailure \{\s*code: "(\w+)"/g,
    /may_try_again\([^"]*"(\w+)"/g,
    /const (?:NOT_FOUND|END_TURN|CANCELLED|REFUSAL|INTERRUPTED|DENIED): &str = "(\w+)"/g,
    /stop_reason\)? if stop_reason == END_TURN => \{\s*\("(\w+)"/g,
  ];
  return [...new Set(patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code]) => code ?? "")))];
}

it("every reason that the server can give has its word, sign, sentence and next step", () => {
  const codes = codesOfServer();
  for (const sure of [
    "agent_timeout",
    "owned_elsewhere",
    "agent_not_found",
    "agent_unguarded",
    "interrupted",
    "denied",
  ])
    expect(codes).toContain(sure);
  const protocol = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
  for (const code of [...codes, ...protocol]) {
    const ending = endings[code];
    expect(ending, code).toBeDefined();
    if (!ending || code === "end_turn") continue;
    expect(ending.word, code).not.toMatch(internal);
    // What was declined is named in its place.
    if (code === "denied") continue;
    expect(said(code)?.steps.length, code).toBeGreaterThan(0);
    expect(said(code)?.text(of), code).toMatch(/^[A-Z].*\.$/);
    expect(said(code)?.text(of), code).not.toMatch(internal);
  }
});

it.each([
  ["crashed", "failed"],
  ["agent_not_started", "failed"],
  ["agent_not_found", "failed"],
  ["agent_timeout", "failed"],
  ["auth_required", "waiting"],
  ["owned_elsewhere", "unknown"],
  ["unknown", "unknown"],
  ["interrupted", "interrupted"],
  ["max_tokens", "interrupted"],
])("%s has the sign of what is %s", (code, dot) => expect(endingOf(code).dot).toBe(dot));

it("an agent that crashed is told from one that broke off by itself", () => {
  const killed =
    "the agent ended before it had finished: the agent was ended by signal 9 (it was killed)\n\nwhat it had…";
  expect(endingOf("interrupted", killed).word).toBe("crashed");
  expect(said("interrupted", killed)?.text({ ...of, reason: killed })).toBe(
    "Its process was killed (signal 9). Its work so far is kept.",
  );
  expect(endingOf("interrupted", "the agent broke off by itself").word).toBe("interrupted");
});

it("a sentence gives the server's reason without the names around it", () => {
  const text = (code: string, reason: string) => said(code)?.text({ ...of, reason });
  expect(text("agent_error", "Codex refused: out of credit.\n\nmore")).toBe("It reported an error: out of credit.");
  expect(text("failed", "the agent could not finish: 503")).toBe("It could not finish: 503.");
  expect(text("agent_not_started", "Codex could not be started: no such file")).toBe("Failed to start: no such file.");
  expect(text("agent_timeout", "")).toBe("It did not answer in time, so it was stopped.");
  expect(said("agent_timeout")?.text({ ...of, files: 1 })).toContain("1 file is changed.");
});

it("a word of the agent's own is shown without its underscores", () => {
  expect(endingOf("some_new_reason").word).toBe("some new reason");
  expect(endingOf("").word).toBe("ended");
});

/** As the server puts them together; see `Ending::of_reason` in the domain. */
const reasons: Record<Ending, string[]> = {
  completed: ["end_turn"],
  stopped: ["cancelled"],
  declined: ["denied"],
  failed: ["failed", "error", "agent_error", "agent_not_started", "agent_timeout", "attachment_unsupported"],
  crashed: ["crashed", "agent_gone"],
  interrupted: ["interrupted", "a word of its own"],
  unknown: ["unknown"],
  needs_sign_in: ["auth_required"],
  in_use: ["owned_elsewhere"],
  refused: ["refusal"],
  limit: ["max_tokens", "max_turn_requests"],
};

it.each(Object.entries(reasons))("the list and the conversation have one dot for %s", (ending, codes) => {
  for (const code of codes) expect(endingOf(code).dot, code).toBe(endingDots[ending as Ending]);
});
