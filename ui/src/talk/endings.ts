// How an agent's work ended: one word and one sign. What is said about it below is loaded when it is shown.

import type { Status } from "../kit/small";
import type { StreamingToolCall } from "../state/model";
import type { sayings } from "./sayings";

export type Tone = "good" | "bad" | "denied" | "neutral";

export interface Ending {
  /** What follows the dash in the head. */
  word: string;
  tone: Tone;
  /** Its sign; a good end needs none. */
  dot: Status;
  /** What is said about it below; null where there is nothing to add to the word. */
  says: keyof typeof sayings | null;
}

const crashed: Ending = {
  word: "crashed",
  tone: "bad",
  dot: "failed",
  says: "crashed",
};

/** Every reason that the server can give; see `AgentEnd` in the domain and the stop reasons of the protocol. */
export const endings: Record<string, Ending> = {
  end_turn: { word: "done", tone: "good", dot: "seen", says: null },
  cancelled: { word: "stopped", tone: "neutral", dot: "seen", says: "cancelled" },
  denied: { word: "declined", tone: "denied", dot: "seen", says: null },
  failed: {
    word: "failed",
    tone: "bad",
    dot: "failed",
    says: "failed",
  },
  error: {
    word: "failed",
    tone: "bad",
    dot: "failed",
    says: "error",
  },
  agent_error: {
    word: "failed",
    tone: "bad",
    dot: "failed",
    says: "agent_error",
  },
  interrupted: {
    word: "interrupted",
    tone: "bad",
    dot: "interrupted",
    says: "interrupted",
  },
  unknown: {
    word: "outcome unknown",
    tone: "bad",
    dot: "unknown",
    says: "unknown",
  },
  crashed,
  agent_gone: crashed,
  agent_not_started: {
    word: "not started",
    tone: "bad",
    dot: "failed",
    says: "agent_not_started",
  },
  agent_not_found: {
    word: "not started",
    tone: "bad",
    dot: "failed",
    says: "agent_not_found",
  },
  agent_timeout: {
    word: "timed out",
    tone: "bad",
    dot: "failed",
    says: "agent_timeout",
  },
  agent_not_sent: {
    word: "not sent",
    tone: "bad",
    dot: "failed",
    says: "agent_not_sent",
  },
  agent_unguarded: {
    word: "not allowed to run",
    tone: "bad",
    dot: "failed",
    says: "agent_unguarded",
  },
  attachment_unsupported: {
    word: "attachment refused",
    tone: "bad",
    dot: "failed",
    says: "attachment_unsupported",
  },
  auth_required: {
    word: "needs sign-in",
    tone: "neutral",
    dot: "waiting",
    says: "auth_required",
  },
  owned_elsewhere: {
    word: "in use elsewhere",
    tone: "neutral",
    dot: "unknown",
    says: "owned_elsewhere",
  },
  refusal: {
    word: "refused",
    tone: "bad",
    dot: "failed",
    says: "refusal",
  },
  max_tokens: {
    word: "out of tokens",
    tone: "bad",
    dot: "interrupted",
    says: "max_tokens",
  },
  max_turn_requests: {
    word: "step limit reached",
    tone: "bad",
    dot: "interrupted",
    says: "max_turn_requests",
  },
};

/** A login that its task waits for: it has not ended. */
export const waits_for_login: Ending = {
  word: "needs sign-in",
  tone: "neutral",
  dot: "waiting",
  says: "waits_for_login",
};

/** Of a reason that this page does not know: agents have words of their own. */
function unnamed(reason: string): Ending {
  return {
    word: reason.replaceAll("_", " ") || "ended",
    tone: "neutral",
    dot: "interrupted",
    says: "unnamed",
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
