// The words of changes.

import type { Changes, FileChange, MeanwhileChange, Since } from "../api/types";
import { formatSize } from "../state/attachments";

export function sinceWords(since: Since, base: string | null | undefined): string {
  const words: Record<Since, string> = {
    turn: "This turn",
    session: "This session",
    base: `Since ${base ?? "the base"}`,
    head: "Uncommitted",
  };
  return words[since];
}

export function commentsWords(count: number): string {
  return count === 1 ? "1 comment" : `${count} comments`;
}

export const meanwhile_title = "Also changed meanwhile";
export const meanwhile_hint = "Not by this session. Not counted, not committed unless you tick it.";

/** Whose it may be: sessions that are credited with changes of the file. */
export function writersWords(file: MeanwhileChange): string | null {
  const [first, ...others] = file.by;
  if (!first) return null;
  const more = others.length === 0 ? "" : others.length === 1 ? " or 1 other" : ` or ${others.length} others`;
  return `probably “${first.title || "Untitled"}”${more}`;
}

/** What is beside the path; nothing for what is only modified. */
export function statusWord(file: FileChange): string | null {
  const words: Record<FileChange["status"], string | null> = {
    added: "new",
    modified: null,
    deleted: "deleted",
    renamed: "renamed",
    type_changed: "type changed",
  };
  return words[file.status];
}

/** By its name. The server looks at the bytes. */
export const isPicture = (path: string) => /\.(?:png|jpe?g|gif|webp)$/i.test(path);

/** How large a binary file was and is. */
function sizeWords({ old_size, new_size }: FileChange): string {
  if (old_size == null && new_size == null) return "";
  if (old_size == null) return `, ${formatSize(new_size ?? 0)}`;
  if (new_size == null) return `, ${formatSize(old_size)} before`;
  return `, ${formatSize(old_size)} before, ${formatSize(new_size)} now`;
}

/** Why a file has no lines to show. */
export function withoutLines(file: FileChange): string {
  if (file.binary) return `Binary file${sizeWords(file)}. No lines to show.`;
  if (file.status === "renamed") return "Renamed, no other changes.";
  if (file.status === "added") return "An empty file.";
  if (file.status === "deleted") return "It was an empty file.";
  return "Only the file mode changed.";
}

/** Whether git keeps the directory, even where it could not be asked. */
const hasGit = (changes: Changes) => changes.sinces.includes("head");

/** Where changes come from, if not from git. */
export function agentsWords(changes: Changes): string {
  return hasGit(changes)
    ? "Changes as reported by the agents: git has no earlier version."
    : "Not a git repository. These are the changes the agents reported.";
}

/** What to say where there is nothing. */
export function emptyWords(changes: Changes): { title: string; text: string } {
  if (changes.source === "none" && !hasGit(changes)) {
    return {
      title: "No known changes",
      text: "Not a git repository, and no agent has reported a change.",
    };
  }
  const titles: Record<Since, string> = {
    turn: "This turn changed nothing",
    session: "This session changed nothing",
    base: `Nothing changed since ${changes.base ?? "the base"}`,
    head: "Nothing to commit",
  };
  return { title: titles[changes.since], text: "Files that agents change appear here." };
}
