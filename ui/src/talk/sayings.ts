// One sentence for people about each bad end of an agent's work, and what can be done next; loaded where one is shown.

import { firstLine } from "./callText";

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

export interface Facts {
  /** The agent's name for people. */
  agent: string;
  /** Why, in the server's words; it may be empty. */
  reason: string;
  /** How many files it changed. */
  files: number;
}

export interface Saying {
  text(of: Facts): string;
  /** The last one is what most people want. */
  steps: Step[];
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

export const sayings = {
  crashed: { text: endOfProcess, steps: ["traffic", "again", "continue"] },
  cancelled: { text: () => is_kept, steps: ["continue"] },
  failed: { text: because("It could not finish"), steps: ["traffic", "again", "continue"] },
  error: { text: because("It reported an error"), steps: ["traffic", "again"] },
  agent_error: { text: because("It reported an error"), steps: ["traffic", "again"] },
  interrupted: { text: () => `It broke off before it had finished. ${is_kept}`, steps: ["again", "continue"] },
  unknown: { text: () => "No answer came. What it did last may have been done.", steps: ["again", "check"] },
  agent_not_started: { text: because("Failed to start"), steps: ["other_agent", "again"] },
  agent_not_found: {
    text: ({ agent }) => `${agent} isn’t installed on the server.`,
    steps: ["other_agent", "install"],
  },
  agent_timeout: {
    text: ({ files }) => `It did not answer in time, so it was stopped.${filesText(files)}`,
    steps: ["review", "again"],
  },
  agent_not_sent: { text: () => "The task did not reach it, so nothing was done.", steps: ["traffic", "again"] },
  agent_unguarded: {
    text: () => "It can’t be kept from acting without asking, so it does not run under “Deny”.",
    steps: ["other_agent", "again"],
  },
  attachment_unsupported: {
    text: () => "It can’t take what you attached. Send the message without it.",
    steps: ["other_agent", "reply"],
  },
  auth_required: { text: () => "It works only after you sign in. Nothing was done.", steps: ["again", "sign_in"] },
  owned_elsewhere: {
    text: () => "Another program has this session open. Close it there, then try again.",
    steps: ["again"],
  },
  refusal: {
    text: () => "Its model declined to go on. Rephrase it, or try again.",
    steps: ["again", "reply"],
  },
  max_tokens: { text: () => `It reached its model’s token limit. ${is_kept}`, steps: ["continue"] },
  max_turn_requests: { text: () => `It reached its step limit. ${is_kept}`, steps: ["continue"] },
  waits_for_login: { text: () => "The task waits. It starts when you sign in.", steps: ["sign_in"] },
  unnamed: { text: () => `It ended before it had finished. ${is_kept}`, steps: ["again", "continue"] },
} satisfies Record<string, Saying>;

export const sayingOf = (id: keyof typeof sayings): Saying => sayings[id];
