// What a conversation says, as plain text, and in which folds it lies: what finding in it looks at.

import { Lexer, type Token } from "marked";
import { unwrap } from "solid-js/store";
import type { AgentToolCall, Update } from "../api/types";
import { isDelegation, readArguments } from "../state/delegation";
import type { ApprovedPart, Part, UpdatePart } from "../state/flow";
import type { Entry, SessionState, StreamingToolCall } from "../state/model";
import { isRepetition, isStraight } from "../state/straight";
import { type TextStream, wholeText } from "../state/text";
import { readCommand, readOutput, repeats } from "./callText";
import { countIn } from "./marks";
import { changesOf } from "./timeline/hunks";
import { callWords, leadOf, type Row, rowsOf, type WorkRow } from "./timeline/rows";

export interface Passage {
  text: string;
  /** The keys of the folds around it, the outermost first. */
  folds: string[];
}

/** Markdown longer than this is searched as it is written. */
const longest_units = 100_000;

/** One place where words are. */
export interface Find {
  /** The id of the entry. */
  entry: string;
  passage: Passage;
  /** Counts those that lie in the same fold. */
  nth: number;
}

export function findsOf(state: SessionState, index: number, pattern: RegExp): Find[] {
  const counts = new Map<string | undefined, number>();
  return passagesOf(state, index).flatMap((passage) => {
    const fold = passage.folds.at(-1);
    const from = counts.get(fold) ?? 0;
    const count = countIn(passage.text, pattern);
    counts.set(fold, from + count);
    const entry = state.entries[index]?.id ?? "";
    return Array.from({ length: count }, (_, at) => ({ entry, passage, nth: from + at }));
  });
}

export function passagesOf(state: SessionState, index: number): Passage[] {
  const entry = state.entries[index];
  if (!entry || isRepetition(state.entries, index, state.calls)) return [];
  return ofEntry(state, entry).filter(({ text }) => text !== "");
}

function ofEntry(state: SessionState, entry: Entry): Passage[] {
  switch (entry.kind) {
    case "message":
      return [{ text: plain(entry.text), folds: [] }];
    case "notice":
      return [{ text: `${entry.notice.title ?? ""}\n${entry.notice.text}`, folds: [] }];
    case "error":
      return [{ text: entry.message, folds: [] }];
    case "call": {
      const call = state.calls[entry.id];
      if (!call) return [];
      if (!isDelegation(call)) return ofPlainCall(call);
      return isStraight(call) ? ofStraight(call) : ofCard(call);
    }
    default:
      return [];
  }
}

function ofPlainCall(call: StreamingToolCall): Passage[] {
  const given = readArguments(call.arguments);
  const values = given ? Object.values(given).map((value) => String(value)) : [call.arguments];
  return [{ text: [call.name, ...values, call.display ?? call.result ?? ""].join("\n"), folds: [`plain:${call.id}`] }];
}

function ofStraight(call: StreamingToolCall): Passage[] {
  const rows = rowsOf(call.copilotStream, { running: false });
  const lead = leadOf(rows);
  return [
    ...(lead ? ofWork(lead, call.id, [`${call.id}:lead`], true) : []),
    ...ofRows(lead ? rows.slice(1) : rows, call.id, []),
    ...ofEnding(call, []),
  ];
}

function ofCard(call: StreamingToolCall): Passage[] {
  const card = [`card:${call.id}`];
  const prompt = readArguments(call.arguments)?.prompt;
  return [
    ...(typeof prompt === "string" ? [{ text: plainOf(prompt), folds: [...card, `${call.id}:task`] }] : []),
    ...ofRows(rowsOf(call.copilotStream, { running: false }), call.id, card),
    ...ofEnding(call, card),
  ];
}

function ofEnding({ copilotDone, copilotStream }: StreamingToolCall, folds: string[]): Passage[] {
  return copilotDone && (copilotStream?.length ?? 0) === 0 ? [{ text: plainOf(copilotDone.summary), folds }] : [];
}

function ofRows(rows: Row[], scope: string, folds: string[]): Passage[] {
  return rows.flatMap((row) => {
    if (row.kind === "work") return ofWork(row, scope, folds, false);
    return row.kind === "part" ? ofPart(row.part, scope, folds) : [];
  });
}

/** Several calls are one row that opens; the first row of an answer is open or not as a whole. In the order in which it is drawn. */
function ofWork(row: WorkRow, scope: string, folds: string[], isLead: boolean): Passage[] {
  const [only, ...others] = row.calls.map((part) => part.update as AgentToolCall);
  const part = row.calls[0];
  if (part && only && others.length === 0) {
    const own = isLead ? folds : [...folds, `${scope}:${only.id}`];
    const title = { text: titleOf(only), folds: isLead ? [] : own };
    return [title, ...ofBeside(row, scope, own), { text: bodyOf(part), folds: own }];
  }
  const around = isLead ? folds : [...folds, `${scope}:${row.id}`];
  return [...ofBeside(row, scope, around), ...row.calls.map((inner) => ofCall(inner, scope, around))];
}

function ofBeside(row: WorkRow, scope: string, folds: string[]): Passage[] {
  return [
    ...row.plan.map(({ content }) => ({ text: plainOf(content), folds })),
    ...row.thoughts.map((part) => ({ text: plain(part.text), folds: [...folds, `${scope}:${part.id}`] })),
    ...row.approved.flatMap((part) => ofApproved(part, scope, folds)),
  ];
}

function ofApproved({ approvals, id }: ApprovedPart, scope: string, folds: string[]): Passage[] {
  const own = approvals.length > 1 ? [...folds, `${scope}:${id}`] : folds;
  return approvals.map(({ title, command }) => ({
    text: command && command !== title ? `${title} ${command}` : title,
    folds: own,
  }));
}

function ofCall(part: UpdatePart, scope: string, folds: string[]): Passage {
  const call = part.update as AgentToolCall;
  return { text: `${titleOf(call)}\n${bodyOf(part)}`, folds: [...folds, `${scope}:${call.id}`] };
}

const asWritten = (text: string) => text;

function titleOf(call: AgentToolCall): string {
  const { text, code } = callWords(call, false, asWritten);
  return `${text} ${code}`;
}

function bodyOf(part: UpdatePart): string {
  const call = part.update as AgentToolCall;
  const command = readCommand(call.input) ?? "";
  const changes = changesOf(call);
  const lines = changes.flatMap((change) => [
    ...(changes.length > 1 || change.isPart ? [change.path] : []),
    ...change.hunks.flatMap((hunk) => hunk.lines.map((line) => line.text)),
  ]);
  const shown = command === callWords(call, false, asWritten).code ? "" : command;
  return [shown, ...lines, outputOf(part, call)].filter(Boolean).join("\n");
}

function outputOf({ output }: UpdatePart, call: AgentToolCall): string {
  const streamed = output ? wholeText(output.text) : "";
  const texts = (call.content ?? []).flatMap((content) => (content.type === "text" ? [content.text] : []));
  const whole = texts.join("\n") || (changesOf(call).length > 0 ? "" : readOutput(call.output));
  if (streamed === "" || whole === "") return streamed || whole;
  return repeats(streamed, whole) ? streamed : `${streamed}\n${whole}`;
}

function ofPart(part: Part, scope: string, folds: string[]): Passage[] {
  const own = [...folds, `${scope}:${part.id}`];
  switch (part.type) {
    case "text":
      return [{ text: plain(part.text), folds }];
    case "thought":
      return [{ text: plain(part.text), folds: own }];
    case "group":
      return part.parts.map((inner) => ofCall(inner, scope, own));
    case "approved":
      return ofApproved(part, scope, folds);
    case "update":
      return ofUpdate(part.update, folds, own);
  }
}

function ofUpdate(update: Update, folds: string[], own: string[]): Passage[] {
  switch (update.type) {
    case "plan":
      return update.entries.map(({ content }) => ({ text: plainOf(content), folds: own }));
    case "notice":
      return [{ text: update.text, folds }];
    case "denied":
      return [{ text: update.title, folds }];
    case "compaction":
      return [{ text: plainOf(update.summary ?? ""), folds: own }];
    case "user_message":
      return [{ text: plainOf(update.text), folds }];
    default:
      return [];
  }
}

const known = new WeakMap<TextStream, { length: number; plain: string }>();

function plain(stream: TextStream): string {
  const text = unwrap(stream);
  const cached = known.get(text);
  if (cached?.length === text.length) return cached.plain;
  const fresh = plainOf(wholeText(text));
  known.set(text, { length: text.length, plain: fresh });
  return fresh;
}

/** Markdown as it reads. */
export function plainOf(markdown: string): string {
  if (markdown.length > longest_units) return markdown;
  try {
    return new Lexer({ gfm: true }).lex(markdown).map(wordsOf).filter(Boolean).join("\n");
  } catch {
    return markdown;
  }
}

function wordsOf(token: Token): string {
  if (token.type === "space" || token.type === "def" || token.type === "hr") return "";
  if (token.type === "br") return "\n";
  if (token.type === "list") return (token.items as Token[]).map(wordsOf).join("\n");
  if (token.type === "table") {
    const cells = [...token.header, ...(token.rows as Token[][]).flat()] as Token[];
    return cells.map((cell) => inlineWords(cell)).join("\n");
  }
  return inlineWords(token);
}

const block_types = ["paragraph", "list", "code", "blockquote", "heading", "table"];

function inlineWords(token: Token): string {
  const inner = (token as { tokens?: Token[] }).tokens;
  if (!inner) return (token as { text?: string }).text ?? token.raw;
  return inner
    .map((part, index) => `${index > 0 && block_types.includes(part.type) ? "\n" : ""}${wordsOf(part)}`)
    .join("");
}
