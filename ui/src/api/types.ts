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
export type Times = Schemas["Times"];
/** A file that a request names, as it is shown, and where it lies. */
export type AskedFile = Schemas["AskedFile"];
/** What was allowed without anybody being asked. */
export type Approval = Schemas["AgentApproval"];
export type PermissionRequest = Schemas["PermissionRequest"];
/** What a person filled into a form of an agent's. */
export type FormValue = string | number | boolean | string[];
export type FormContent = Record<string, FormValue>;
export type QueueItem = Schemas["QueueItem"];
export type Ending = Schemas["Ending"];
export type PermissionRule = Schemas["PermissionRule"];
export type RuleScope = Schemas["RuleScope"];
export type RuleEffect = Schemas["RuleEffect"];
/** An option; with the fields of a form that is sent, or with how far an answer for always reaches. */
export type PermissionAnswer = {
  option_id: string;
  content?: FormContent;
  remember?: RuleScope;
  /** The id of one of the scopes that the request offers. */
  scope?: string;
  /** Of a refusal: what the agent is told. */
  reason?: string;
};
export type RuleList = Schemas["RuleList"];
export type Notice = Schemas["Notice"];
export type ReviewFile = Schemas["ReviewFile"];
export type ReviewArtifact = Schemas["ReviewArtifact"];
export type Artifact = Schemas["ArtifactView"];
export type ArtifactFile = Schemas["ArtifactFile"];
/** From and to within a line, in UTF-16 units: the words that differ from the line it replaces, or is replaced by. */
export type Mark = Schemas["Mark"];
export type DiffLine = Schemas["DiffLine"];
export type DiffHunk = Schemas["DiffHunk"];
export type FileChange = Schemas["FileChange"];
export type MeanwhileChange = Schemas["MeanwhileChange"];
export type Changes = Schemas["Changes"];
export type Since = Schemas["Since"];
/** Of a file: before the change, or after it. */
export type TextSide = Schemas["Side"];
export type Revert = Schemas["Revert"];
export type Commit = Schemas["NewCommit"];
export type Comment = Schemas["ReviewComment"];
export type NewComment = Schemas["NewComment"];
export type Notes = Schemas["Review"];
export type Verdict = Schemas["ReviewVerdict"];
export type Submission = Schemas["Submit"];
export type Push = Schemas["PushView"];
export type PushWanted = Schemas["PushWanted"];
export type MainAiWanted = Schemas["MainAiWanted"];
export type MainAiTrial = Schemas["MainAiTrial"];
export type Setting = Schemas["SettingView"];
export type SettingValue = string | number | boolean | string[] | null;
export type Session = Schemas["SessionView"];
/** A session as the list has it. */
export type Row = Session;
export type Hit = Schemas["SearchHit"];
export type Model = Schemas["ModelView"];
export type Project = Schemas["ProjectView"];
export type SessionList = Schemas["SessionList"];
export type SessionDraft = Schemas["NewSession"];
/** Only what is to change: null says the same as leaving a field out, but of the policy it says that the server's holds again. */
export type SessionChange = Omit<NonNull<Schemas["SessionPatch"]>, "permission_policy"> & {
  permission_policy?: Policy | null;
};
export type MessagePage = Schemas["MessagePage"];
export type Attachment = Schemas["Attachment"];
export type NewAttachment = Schemas["NewAttachment"];
export type Files = Schemas["Files"];
export type FileView = Schemas["FileView"];
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
export type TraceFilter = {
  text?: string;
  method?: string;
  direction?: TraceDirection | undefined;
  from_ms?: number | undefined;
  until_ms?: number | undefined;
};
export type ErrorBody = Schemas["ErrorBody"];
export type DeviceKind = Schemas["DeviceKind"];
export type Device = Schemas["DeviceView"];
/** A way in for another device, good for one use and a few minutes. */
export type DeviceLink = Schemas["DeviceLink"];
/** How other devices reach the server. */
export type Reach = Schemas["ReachView"];
export type ReachAddress = Schemas["ReachAddress"];
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
  "permission-held": true,
  "permission-pending": true,
  turn: true,
  waits: true,
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
