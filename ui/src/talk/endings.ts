// How an agent's work ended: one word, one sign, one sentence for people, and what can be done next.

import type { Status } from "../kit/small";
import type { StreamingToolCall } from "../state/model";
import { firstLine } from "./callText";

export type Tone = "good" | "bad" | "denied" | "neutral";

/** What a button below a bad ending does. */
export type Step =
  | "continue"
  | "again"
  | "check"
  | "sign_in"
  | "install"
  | "other_agent"
  | "review"
  | "traffic"
  | "reply";

export interface Ending {
  /** What follows the dash in the head. */
  word: string;
  tone: Tone;
  /** Its sign; a good end needs none. */
  dot: Status;
  /** Null where there is nothing to add to the word. */
  text: ((of: Facts) => string) | null;
  /** The last one is what most people want. */
  steps: Step[];
}

export interface Facts {
  /** The agent's name for people. */
  agent: string;
  /** Why, in the server's words; it may be empty. */
  reason: string;
  /** How many files it changed. */
  files: number;
}

const is_kept = "Its work so far is kept.";

/** The server names the agent first, which the card does already. */
function detail({ agent, reason }: Facts): string {
  const line = firstLine(reason).replace(/^(denied|error): /, "");
  const names = [`${agent} refused: `, `GitHub ${agent} refused: `, "the agent could not finish: "];
  const start = names.find((name) => line.startsWith(name));
  const rest = (start ? line.slice(start.length) : line.replace(/^.{1,60} could not be started: /, "")).trim();
  return rest.replace(/[.\s]+$/, "");
}

/** A sentence with the reason, or one without where none is known. */
const because = (sentence: string) => (of: Facts) => {
  const why = detail(of);
  return why ? `${sentence}: ${why}.` : `${sentence}.`;
};

function endOfProcess({ reason }: Facts): string {
  const signal = /signal (\d+)/.exec(reason)?.[1];
  const code = /(?:exit(?: code| status)?:?|status) (\d+)/.exec(reason)?.[1];
  if (signal === "9") return `Its process was killed (signal 9). ${is_kept}`;
  if (signal) return `Its process was ended by signal ${signal}. ${is_kept}`;
  return code ? `Its process ended with exit code ${code}. ${is_kept}` : `Its process ended unexpectedly. ${is_kept}`;
}

const filesText = (files: number) =>
  files === 0 ? "" : files === 1 ? " 1 file is changed." : ` ${files} files are changed.`;

const crashed: Ending = {
  word: "crashed",
  tone: "bad",
  dot: "failed",
  text: endOfProcess,
  steps: ["traffic", "again", "continue"],
};

/** Every reason that the server can give; see `AgentEnd` in the domain and the stop reasons of the protocol. */
export const endings: Record<string, Ending> = {
  end_turn: { word: "done", tone: "good", dot: "seen", text: null, steps: [] },
  cancelled: { word: "stopped", tone: "neutral", dot: "seen", text: () => is_kept, steps: ["continue"] },
  denied: { word: "declined", tone: "denied", dot: "seen", text: null, steps: ["reply"] },
  failed: {
    word: "failed",
    tone: "bad",
    dot: "failed",
    text: because("It could not finish"),
    steps: ["traffic", "again", "continue"],
  },
  error: {
    word: "failed",
    tone: "bad",
    dot: "failed",
    text: because("It reported an error"),
    steps: ["traffic", "again"],
  },
  agent_error: {
    word: "failed",
    tone: "bad",
    dot: "failed",
    text: because("It reported an error"),
    steps: ["traffic", "again"],
  },
  interrupted: {
    word: "interrupted",
    tone: "bad",
    dot: "interrupted",
    text: () => `It broke off before it had finished. ${is_kept}`,
    steps: ["again", "continue"],
  },
  unknown: {
    word: "outcome unknown",
    tone: "bad",
    dot: "unknown",
    text: () => "No answer came. What it did last may have been done.",
    steps: ["again", "check"],
  },
  crashed,
  agent_gone: crashed,
  agent_not_started: {
    word: "not started",
    tone: "bad",
    dot: "failed",
    text: because("It could not be started"),
    steps: ["other_agent", "again"],
  },
  agent_not_found: {
    word: "not started",
    tone: "bad",
    dot: "failed",
    text: ({ agent }) => `${agent} isn’t installed on the server.`,
    steps: ["other_agent", "install"],
  },
  agent_timeout: {
    word: "timed out",
    tone: "bad",
    dot: "failed",
    text: ({ files }) => `It did not answer in time, so it was stopped.${filesText(files)}`,
    steps: ["review", "again"],
  },
  agent_not_sent: {
    word: "not sent",
    tone: "bad",
    dot: "failed",
    text: () => "The task did not reach it, so nothing was done.",
    steps: ["traffic", "again"],
  },
  agent_unguarded: {
    word: "not allowed to run",
    tone: "bad",
    dot: "failed",
    text: () => "It can’t be kept from acting without asking, so it does not run under “Deny”.",
    steps: ["other_agent", "again"],
  },
  attachment_unsupported: {
    word: "attachment refused",
    tone: "bad",
    dot: "failed",
    text: () => "It can’t take what you attached. Send the message without it.",
    steps: ["other_agent", "reply"],
  },
  auth_required: {
    word: "needs sign-in",
    tone: "neutral",
    dot: "waiting",
    text: () => "It works only after you sign in. Nothing was done.",
    steps: ["again", "sign_in"],
  },
  owned_elsewhere: {
    word: "in use elsewhere",
    tone: "neutral",
    dot: "unknown",
    text: () => "Another program has this session open. Close it there, then try again.",
    steps: ["again"],
  },
  refusal: {
    word: "refused",
    tone: "bad",
    dot: "failed",
    text: () => "Its model declined to go on. Say it in other words, or try again.",
    steps: ["again", "reply"],
  },
  max_tokens: {
    word: "out of tokens",
    tone: "bad",
    dot: "interrupted",
    text: () => `It reached its model’s token limit. ${is_kept}`,
    steps: ["continue"],
  },
  max_turn_requests: {
    word: "step limit reached",
    tone: "bad",
    dot: "interrupted",
    text: () => `It reached its step limit. ${is_kept}`,
    steps: ["continue"],
  },
};

/** A login that its task waits for: it has not ended. */
export const waits_for_login: Ending = {
  word: "needs sign-in",
  tone: "neutral",
  dot: "waiting",
  text: () => "The task waits. It starts when you sign in.",
  steps: ["sign_in"],
};

/** Of a reason that this page does not know: agents have words of their own. */
function unnamed(reason: string): Ending {
  return {
    word: reason.replaceAll("_", " ") || "ended",
    tone: "neutral",
    dot: "interrupted",
    text: () => `It ended before it had finished. ${is_kept}`,
    steps: ["again", "continue"],
  };
}

const ended_process = "the agent ended before it had finished";

/** How an agent's work ended by its reason; `result` tells an agent that crashed from one that broke off. */
export function endingOf(reason: string, result = ""): Ending {
  if (reason === "interrupted" && result.startsWith(ended_process)) return crashed;
  return endings[reason] ?? unnamed(reason);
}

/** How a call's agent ended; null while it works, and for a tool that is no agent. */
export function callEnding(call: StreamingToolCall): Ending | null {
  const { copilotDone: done } = call;
  if (done) return done.ending === "crashed" ? crashed : endingOf(done.stopReason, call.result ?? "");
  return call.abandoned && call.result === null ? (endings.interrupted ?? null) : null;
}
