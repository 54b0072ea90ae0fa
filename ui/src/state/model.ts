// What the page knows of one session. Only the reducer and the local actions change it.

import type {
  Attachment,
  Ending,
  Notice,
  PermissionRequest,
  QueueItem,
  ReviewArtifact,
  SessionChange,
  ToolCall,
} from "../api/types";
import type { Flow } from "./flow";
import type { TextStream } from "./text";
import { visible } from "./visible";

export interface MessageEntry {
  kind: "message";
  id: string;
  role: "user" | "assistant";
  text: TextStream;
  createdAt: string | null;
  clientId: string | null;
  turnId: string | null;
  attachments: Attachment[];
  streaming: boolean;
}

export interface CallEntry {
  kind: "call";
  id: string;
}

export interface NoticeEntry {
  kind: "notice";
  id: string;
  turnId: string | null;
  notice: Notice;
}

/** A turn that did not end well, and what is certain about it. */
export interface EndingEntry {
  kind: "ending";
  id: string;
  turnId: string;
  state: "failed" | "interrupted" | "unknown";
  text: string;
}

/** An error that belongs to no turn. */
export interface ErrorEntry {
  kind: "error";
  id: string;
  message: string;
}

/** A review artifact that no tool call claims. */
export interface ArtifactEntry {
  kind: "artifact";
  id: string;
}

export type Entry = MessageEntry | CallEntry | NoticeEntry | EndingEntry | ErrorEntry | ArtifactEntry;

/** A tool call of the main AI, running or ended, live or from history. */
export interface StreamingToolCall {
  id: string;
  name: string;
  arguments: string;
  result: string | null;
  /** The full output, for people. */
  display: string | null;
  isError: boolean;
  artifactId: string | null;
  copilotStream: Flow | null;
  copilotDone: { stopReason: string; summary: string; agent: string; ending: Ending | null } | null;
  copilotSessionName: string | null;
  /** Its turn is over and it never got a result. */
  abandoned: boolean;
  /** The server came back while it ran, and found it still at work. */
  recovered: boolean;
  /** Somebody stopped it, and it has not ended yet. */
  stopping: boolean;
  /** When it was made and when it ended, as far as that is known. */
  startedAt: string | null;
  endedAt: string | null;
  /** How long of that somebody was waited for, without a wait that goes on. */
  waitedMs: number;
  /** How long its turn had waited when it ended; null where that is not known. */
  turnWaitedMs: number | null;
}

/** Prompts of the running turn wait until somebody has logged the agent in. */
export interface NeededLogin {
  turnId: string | null;
  /** The agent session whose prompt waits. */
  sessionName: string;
  text: string;
  /** It was asked for before in this turn: what was tried did not help. */
  again: boolean;
  /** Somebody says that they have logged in; the server tries. */
  trying: boolean;
}

export interface SessionState {
  /** Counts snapshots; see `TextStream.version`. */
  epoch: number;
  ready: boolean;
  entries: Entry[];
  calls: Record<string, StreamingToolCall>;
  artifacts: Record<string, ReviewArtifact>;
  runningTurn: string | null;
  /** The turn that was heard of last, running or not. */
  lastTurn: string | null;
  /** The running turn was told to stop and has not stopped yet. */
  cancelling: boolean;
  queue: QueueItem[];
  /** Somebody stopped what ran: what is queued waits for a click. */
  held: boolean;
  confirms: ToolCall[];
  permissions: PermissionRequest[];
  /** Denials that can still be taken back: by their request, when the agent is told, in ms since 1970. */
  holds: Record<string, number>;
  login: NeededLogin | null;
  session: SessionChange & { rules?: number };
  /** Grows when something about the agent's named sessions may have changed. */
  agentNews: number;
  /** The oldest message that was received: where paging goes on. */
  oldestMessage: string | null;
  moreBefore: boolean;
}

export function emptyState(epoch: number): SessionState {
  return {
    epoch,
    ready: false,
    entries: [],
    calls: {},
    artifacts: {},
    runningTurn: null,
    lastTurn: null,
    cancelling: false,
    queue: [],
    held: false,
    confirms: [],
    permissions: [],
    holds: {},
    login: null,
    session: {},
    agentNews: 0,
    oldestMessage: null,
    moreBefore: true,
  };
}

/** How many answers the session waits for. */
export function waitingCount(state: SessionState): number {
  return state.confirms.length + state.permissions.length + (state.login && !state.login.trying ? 1 : 0);
}

/** The question that waits longest, in words. */
export function firstQuestion(state: SessionState): string | null {
  const request = state.permissions[0];
  if (request) return visible(`${request.session_name} asks: ${request.title}`);
  const confirm = state.confirms[0];
  if (confirm) return visible(`${confirm.name} needs your confirmation`);
  return state.login && !state.login.trying ? state.login.text : null;
}

export function findMessage(state: SessionState, id: string): MessageEntry | undefined {
  return state.entries.findLast((entry): entry is MessageEntry => entry.kind === "message" && entry.id === id);
}
