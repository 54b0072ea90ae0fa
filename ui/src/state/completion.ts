// What is being written at the caret that could be completed: a path behind an @, or a command behind a slash.

export interface Completing {
  kind: "path" | "command";
  query: string;
  /** The part of the text that a choice replaces. */
  start: number;
  end: number;
}

const path_start = /(?:^|[\s([{'"`])@("?)([^\s"@]*)$/;
/** Agents take commands only at the beginning, perhaps behind the name of an agent session. */
const command_start = /^(?:@[\w.-]+\s+|\s*)\/([\w-]*)$/;

export function completing(text: string, caret: number): Completing | null {
  const before = text.slice(0, caret);
  const command = command_start.exec(before);
  if (command) {
    const query = command[1] ?? "";
    return { kind: "command", query, start: caret - query.length - 1, end: caret };
  }
  const path = path_start.exec(before);
  if (!path) return null;
  const query = path[2] ?? "";
  return { kind: "path", query, start: caret - query.length - (path[1] ?? "").length - 1, end: caret };
}

/** The text with the choice in place, and where the caret is then. */
export function complete(text: string, at: Completing, choice: string): { text: string; caret: number } {
  const goesOn = at.kind === "path" && choice.endsWith("/");
  const inserted = at.kind === "command" ? `/${choice} ` : `${mention(choice)}${goesOn ? "" : " "}`;
  const rest = text.slice(at.end).replace(/^ /, goesOn ? " " : "");
  return { text: text.slice(0, at.start) + inserted + rest, caret: at.start + inserted.length };
}

function mention(path: string): string {
  return /\s/.test(path) ? `@"${path}"` : `@${path}`;
}
