// The change of a file that a tool call tells of, as the server cut it into hunks.

import type { AgentToolCall, DiffHunk, DiffLine, ToolContent } from "../../api/types";

export interface Change {
  path: string;
  isNew: boolean;
  /** The agent told of the replaced text alone: its lines have no numbers. */
  isPart: boolean;
  hunks: DiffHunk[];
  additions: number;
  deletions: number;
}

export function count(hunks: DiffHunk[]): { additions: number; deletions: number } {
  let additions = 0;
  let deletions = 0;
  for (const { lines } of hunks) {
    for (const { kind } of lines) {
      if (kind === "add") additions += 1;
      if (kind === "delete") deletions += 1;
    }
  }
  return { additions, deletions };
}

type DiffContent = Extract<ToolContent, { type: "diff" }>;

export function changesOf(call: AgentToolCall): Change[] {
  return (call.content ?? []).flatMap((part) => {
    if (part.type !== "diff") return [];
    const hunks: DiffHunk[] = part.hunks?.length ? (part.hunks as DiffHunk[]) : wholeHunk(part);
    const isNew = part.old_text == null || part.old_text === "";
    return [{ path: part.path, isNew, isPart: isPart(call, part, hunks), hunks, ...count(hunks) }];
  });
}

/** Copilot sends only the text that it replaces, until it is done. */
function isPart(call: AgentToolCall, { old_text }: DiffContent, hunks: DiffHunk[]): boolean {
  const input = (call.input ?? {}) as Record<string, unknown>;
  const replaced = input.old_str ?? input.old_string;
  const isWhole = hunks.some(({ lines }) => lines.some((line) => line.kind === "context"));
  return typeof replaced === "string" && replaced !== "" && replaced === old_text && !isWhole;
}

/** All that was for all that is, where nobody has compared them. */
function wholeHunk({ old_text, new_text }: DiffContent): DiffHunk[] {
  const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
  const before = linesOf(old_text ?? "");
  const after = linesOf(new_text);
  const lines: DiffLine[] = [
    ...before.map((text, index): DiffLine => ({ kind: "delete", old: index + 1, text })),
    ...after.map((text, index): DiffLine => ({ kind: "add", new: index + 1, text })),
  ];
  return [{ old_start: 1, old_lines: before.length, new_start: 1, new_lines: after.length, lines }];
}

/** What all of them come to: files that were touched, lines in and out. */
export function sumOf(calls: AgentToolCall[]): { files: number; additions: number; deletions: number } {
  const paths = new Set<string>();
  let additions = 0;
  let deletions = 0;
  for (const call of calls) {
    if (!isApplied(call)) continue;
    for (const change of changesOf(call)) {
      paths.add(change.path);
      additions += change.additions;
      deletions += change.deletions;
    }
  }
  return { files: paths.size, additions, deletions };
}

/** A change counts once it is made: not while it is asked for or under way, and not where it came to nothing. */
function isApplied({ status }: AgentToolCall): boolean {
  return status == null || status === "completed";
}
