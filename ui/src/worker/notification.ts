// What a push becomes: a notification, or its end. Pure, so that it can be tested without a worker.

export interface Option {
  option_id: string;
  name: string;
  kind: string;
}

export interface Pushed {
  kind: "needs-you" | "done" | "failed" | "closed" | "test";
  session_id: string | null;
  title: string;
  text: string;
  request_id: string | null;
  options: Option[];
}

/** What is kept in a notification, for when it is clicked. */
export interface Kept {
  session_id: string | null;
  request_id: string | null;
  /** By the action that stands for it. */
  answers: Record<string, string>;
}

export interface Shown {
  title: string;
  options: NotificationOptions & {
    actions?: { action: string; title: string }[];
    renotify?: boolean;
    data: Kept;
  };
}

const kinds = ["needs-you", "done", "failed", "closed", "test"] as const;
const icon = "/icons/icon-192.png";
const badge = "/icons/badge-96.png";
const nothing: Kept = { session_id: null, request_id: null, answers: {} };

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What the server sent; null where it is none of what is known here. */
export function readPushed(data: unknown): Pushed | null {
  if (typeof data !== "object" || data === null) return null;
  const given = data as Record<string, unknown>;
  const kind = kinds.find((known) => known === given.kind);
  if (!kind) return null;
  const options = Array.isArray(given.options) ? given.options : [];
  return {
    kind,
    session_id: text(given.session_id) || null,
    title: text(given.title) || "VoxPilot",
    text: text(given.text),
    request_id: text(given.request_id) || null,
    options: options.filter(isOption),
  };
}

function isOption(value: unknown): value is Option {
  if (typeof value !== "object" || value === null) return false;
  const option = value as Record<string, unknown>;
  return [option.option_id, option.name, option.kind].every((field) => typeof field === "string");
}

/** All of a session share one place: the latest word about it is the one that counts. */
export const tagOf = (session: string | null): string => (session === null ? "voxpilot" : `session:${session}`);

const heads: Record<Pushed["kind"], string> = {
  "needs-you": "Needs you",
  done: "Done",
  failed: "Failed",
  closed: "Answered",
  test: "",
};

export function show(pushed: Pushed, maxActions: number): Shown {
  const head = heads[pushed.kind];
  const answers: Record<string, string> = {};
  const actions: { action: string; title: string }[] = [];
  if (pushed.request_id !== null) {
    for (const [kind, title] of [
      ["allow_once", "Allow"],
      ["reject_once", "Deny"],
    ] as const) {
      const option = pushed.options.find((one) => one.kind === kind);
      if (!option) continue;
      answers[kind] = option.option_id;
      actions.push({ action: kind, title });
    }
  }
  // One answer without the other would be no choice.
  const both = actions.length === 2 && maxActions >= 2;
  return {
    title: pushed.title,
    options: {
      body: [head, pushed.text].filter(Boolean).join(head && pushed.text ? ": " : ""),
      tag: tagOf(pushed.session_id),
      icon,
      badge,
      renotify: pushed.kind !== "closed",
      silent: pushed.kind === "closed",
      requireInteraction: pushed.kind === "needs-you",
      ...(both ? { actions } : {}),
      data: { session_id: pushed.session_id, request_id: pushed.request_id, answers: both ? answers : {} },
    },
  };
}

/** Whoever has the session in front of them is not called. */
export function isSeen(pushed: Pushed, inFront: unknown[]): boolean {
  return pushed.session_id !== null && inFront.includes(pushed.session_id);
}

export const addressOf = (session: string | null): string => (session === null ? "/" : `/#/sessions/${session}`);

export function keptIn(data: unknown): Kept {
  return typeof data === "object" && data !== null && "answers" in data ? (data as Kept) : nothing;
}

/** What is shown where an answer did not get there. */
export function notAnswered(title: string, kept: Kept, why: string): Shown {
  return {
    title,
    options: {
      body: `Not answered: ${why} Open the session to answer there.`,
      tag: tagOf(kept.session_id),
      icon,
      badge,
      renotify: true,
      requireInteraction: true,
      data: { ...kept, answers: {} },
    },
  };
}

/** Why an answer was not taken; null where it was, or where somebody else had answered before. */
export function refusal(status: number, body: string): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === 401) return "this browser is signed out.";
  if (status === 409) return "it was already answered or withdrawn.";
  try {
    const { error } = JSON.parse(body) as { error?: { message?: string } };
    if (error?.message) return `${error.message}.`;
  } catch {
    // Not the server's own words.
  }
  return `the server answered ${status}.`;
}
