// The words of the HTTP contract. Everything else imports them from here, so that the hand-written
// shapes can give way to generated ones without a change elsewhere.

export type Role = "user" | "assistant" | "tool";
export type Policy = "auto" | "ask" | "read-only" | "deny";
export type TurnState = "running" | "completed" | "cancelled" | "failed" | "interrupted" | "unknown";

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text as the model wrote it, perhaps malformed. */
  arguments: string;
}

export interface Message {
  id: string;
  role: Role;
  content: string;
  html?: string;
  created_at: string;
  turn_id?: string;
  client_id?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  display?: string;
  is_error?: boolean;
  artifact_id?: string;
  delegation?: Delegation;
}

export interface Delegation {
  session_name: string;
  stop_reason: string;
  summary: string;
  updates?: PlacedUpdate[];
}

export interface PlacedUpdate {
  offset: number;
  update: Update;
}

export interface Location {
  path: string;
  line?: number;
}

export type ToolContent =
  | { type: "text"; text: string }
  | { type: "diff"; path: string; old_text?: string | null; new_text: string }
  | { type: "terminal"; terminal_id: string }
  | { type: "other"; raw: unknown };

export interface AgentToolCall {
  id: string;
  title?: string;
  kind?: string;
  status?: string;
  content?: ToolContent[];
  locations?: Location[];
  input?: unknown;
  output?: unknown;
  exit_code?: number;
  parent?: string;
}

export interface PlanEntry {
  content: string;
  priority: string;
  status: string;
}

export type Update =
  | { type: "thought"; text: string }
  | ({ type: "tool_call" } & AgentToolCall)
  | { type: "plan"; entries: PlanEntry[] }
  | { type: "usage"; used?: number | null; size?: number | null; cost?: unknown }
  | { type: "title"; title?: string | null }
  | { type: "commands"; commands: { name: string; description: string }[] }
  | { type: "mode"; mode_id: string }
  | { type: "options"; options: unknown }
  | { type: "notice"; level: string; text: string }
  | { type: "content"; content: unknown }
  | { type: "user_message"; text: string }
  | { type: "unknown"; kind: string; raw: unknown };

export interface PermissionOption {
  option_id: string;
  name: string;
  kind: string;
}

export interface PermissionRequest {
  request_id: string;
  tool_call_id: string;
  session_name: string;
  title: string;
  kind?: string;
  command?: string;
  /** A unified diff. */
  diff?: string;
  locations?: Location[];
  options: PermissionOption[];
  agent_call?: string;
  input?: unknown;
}

export interface QueueItem {
  message_id: string;
  content: string;
  created_at: string;
  client_id?: string;
}

export interface Notice {
  code: string;
  level: string;
  title: string;
  text: string;
  session_name?: string;
}

export interface SessionChange {
  title?: string;
  model?: string;
  agent?: string;
  permission_policy?: Policy;
}

export interface ReviewFile {
  path: string;
  status: string;
  additions: number;
  deletions: number;
}

export interface ReviewArtifact {
  artifact_id: string;
  title: string;
  status: string;
  total_files: number;
  total_additions: number;
  total_deletions: number;
  files: ReviewFile[];
}

/** What each event of the stream carries. */
export interface EventData {
  message: Message;
  "text-delta": { message_id: string; offset: number; content: string };
  superseded: { message_id: string };
  "tool-call": ToolCall;
  "tool-confirm": ToolCall;
  "tool-result": {
    id: string;
    name: string;
    content: string;
    display?: string;
    is_error: boolean;
    artifact_id?: string;
  };
  "copilot-delta": { tool_call_id: string; session_name: string; offset: number; content: string };
  "copilot-done": { tool_call_id: string; session_name: string; summary: string; stop_reason: string };
  "agent-update": { tool_call_id: string; session_name: string; offset: number; update: Update };
  "permission-request": PermissionRequest;
  "permission-resolved": { request_id: string; option_id?: string; by: string };
  turn: { turn_id: string; state: TurnState; reason?: string };
  queue: { items: QueueItem[] };
  notice: Notice;
  session: SessionChange;
  "review-artifact": ReviewArtifact;
  done: { turn_id: string; message_id: string; model: string; html?: string };
  error: { turn_id?: string; code: string; message: string };
  ready: { seq: number };
  reset: Record<string, never>;
  keepalive: Record<string, never>;
}

export type EventName = keyof EventData;
export type StreamEvent = { [Name in EventName]: { event: Name; data: EventData[Name] } }[EventName];

const names: Record<EventName, true> = {
  message: true,
  "text-delta": true,
  superseded: true,
  "tool-call": true,
  "tool-confirm": true,
  "tool-result": true,
  "copilot-delta": true,
  "copilot-done": true,
  "agent-update": true,
  "permission-request": true,
  "permission-resolved": true,
  turn: true,
  queue: true,
  notice: true,
  session: true,
  "review-artifact": true,
  done: true,
  error: true,
  ready: true,
  reset: true,
  keepalive: true,
};
export const eventNames = Object.keys(names) as EventName[];

export interface Session {
  id: string;
  title: string;
  work_dir: string;
  model: string;
  agent: string;
  /** Null leaves it to the server's setting. */
  permission_policy: Policy | null;
  created_at: string;
  updated_at: string;
  running: boolean;
  queue_len: number;
  /** Whether, or how many times, somebody is waited for. */
  waiting: boolean | number;
}

export interface SessionList {
  sessions: Session[];
  next?: string | null;
}

export interface SessionDraft extends SessionChange {
  work_dir?: string;
}

export interface MessagePage {
  messages: Message[];
  more: boolean;
}

export interface Accepted {
  message_id: string;
  turn_id: string | null;
  queued: boolean;
}

export interface Agent {
  id: string;
  title: string;
  installed: boolean;
  version?: string | null;
  logged_in?: boolean | null;
}

export interface ArtifactFile extends ReviewFile {
  old_path?: string | null;
  binary: boolean;
  /** The diff, rendered and sanitised by the server. */
  diff_html?: string | null;
}

export interface Artifact extends Omit<ReviewArtifact, "files"> {
  files: ArtifactFile[];
}
