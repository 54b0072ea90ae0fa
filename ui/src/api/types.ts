// The words of the HTTP contract, by short names. The shapes come from the server's own description (`make types`),
// so a change over there that this page does not follow fails to compile.

import type { components } from "./schema";

type Schemas = components["schemas"];
type NonNull<T> = { [Key in keyof T]?: NonNullable<T[Key]> };

export type Policy = Schemas["Policy"];
export type TurnState = Schemas["TurnState"];
export type ToolCall = Schemas["ToolCall"];
export type Message = Schemas["Message"];
export type Delegation = Schemas["Delegation"];
export type PlacedUpdate = Schemas["PlacedUpdate"];
export type ToolContent = Schemas["ToolContent"];
export type AgentToolCall = Schemas["AgentToolCall"];
export type PlanEntry = Schemas["PlanEntry"];
export type Update = Schemas["Update"];
/** A file that a request names, as it is shown, and where it lies. */
export type AskedFile = Schemas["AskedFile"];
/** What was allowed without anybody being asked. */
export type Approval = Schemas["AgentApproval"];
export type PermissionRequest = Schemas["PermissionRequest"];
/** What a person filled into a form of an agent's. */
export type FormValue = string | number | boolean | string[];
export type FormContent = Record<string, FormValue>;
export type QueueItem = Schemas["QueueItem"];
export type PermissionRule = Schemas["PermissionRule"];
export type RuleScope = Schemas["RuleScope"];
/** An option; with the fields of a form that is sent, or with how far an answer for always reaches. */
export type PermissionAnswer = { option_id: string; content?: FormContent; remember?: RuleScope };
export type RuleList = Schemas["RuleList"];
export type Notice = Schemas["Notice"];
export type ReviewFile = Schemas["ReviewFile"];
export type ReviewArtifact = Schemas["ReviewArtifact"];
export type Artifact = Schemas["ArtifactView"];
export type ArtifactFile = Schemas["ArtifactFile"];
export type Session = Schemas["SessionView"];
export type SessionList = Schemas["SessionList"];
export type SessionDraft = Schemas["NewSession"];
/** Only what is to change: null would say the same as leaving a field out. */
export type SessionChange = NonNull<Schemas["SessionPatch"]>;
export type MessagePage = Schemas["MessagePage"];
export type Attachment = Schemas["Attachment"];
export type NewAttachment = Schemas["NewAttachment"];
export type Files = Schemas["Files"];
export type NewMessage = Schemas["NewMessage"];
export type Accepted = Schemas["Posted"];
export type Agent = Schemas["CatalogueAgent"];
/** One thing that an agent can or cannot do, and how that is known. */
export type Ability = Schemas["Ability"];
/** A conversation of ours, or one that only an agent keeps. */
export type Conversation = Schemas["Conversation"];
export type ConversationList = Schemas["Conversations"];
export type AgentSession = Schemas["AgentSessionView"];
export type AgentOption = Schemas["AgentOption"];
export type AgentChoice = Schemas["AgentChoice"];
export type Catalogue = Schemas["Catalogue"];
export type TraceList = Schemas["TraceList"];
export type TraceEntry = Schemas["TraceEntry"];
export type TraceRunner = Schemas["TraceRunner"];
export type TraceDirection = Schemas["TraceDirection"];
/** Which lines of the raw traffic are wanted; an empty text is no wish. */
export type TraceFilter = { text?: string; method?: string; direction?: TraceDirection | undefined };
export type ErrorBody = Schemas["ErrorBody"];
export type DeviceKind = Schemas["DeviceKind"];
export type Device = Schemas["DeviceView"];
/** A way in for another device, good for one use and a few minutes. */
export type DeviceLink = Schemas["DeviceLink"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditPage = Schemas["AuditList"];
/** The project's own settings file, and whether it counts. */
export type Trust = Schemas["ProjectFile"];
export type ServerInfo = Schemas["ServerView"];

export type StreamEvent = Schemas["Event"];
export type EventName = StreamEvent["event"];
/** What each event of the stream carries. */
export type EventData = { [Name in EventName]: Extract<StreamEvent, { event: Name }>["data"] };

const names: Record<EventName, true> = {
  message: true,
  "text-delta": true,
  superseded: true,
  "tool-call": true,
  "tool-confirm": true,
  "tool-stopping": true,
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
