// Reads the free-form input and output of an agent's tool call: agents agree on little beyond JSON.

import type { AgentToolCall, ToolContent } from "../api/types";
import { type DiffLine, diffTexts, readUnified } from "../diff/lines";

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

export function readCommand(input: unknown): string | null {
  const command = field(input, "command") ?? field(input, "cmd");
  if (typeof command === "string") return command;
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) return command.join(" ");
  return null;
}

export function readOutput(output: unknown): string {
  if (typeof output === "string") return output.trimEnd();
  for (const name of ["content", "output", "formatted_output", "stdout", "message", "error"]) {
    const text = field(output, name);
    if (typeof text !== "string") continue;
    const errors = name === "stdout" ? field(output, "stderr") : "";
    return (typeof errors === "string" && errors !== "" ? `${text}\n${errors}` : text).trimEnd();
  }
  return "";
}

const compared_units = 200;

/** Whether a text tells again what was streamed, of which only the end may be kept; agents put words around it. */
export function repeats(stream: string, text: string): boolean {
  const end = stream.trim().slice(-compared_units);
  return end !== "" && (text.includes(end) || stream.includes(text.trim()));
}

/**
 * A change as it is in the file. Copilot sends only the text that it replaces; when it is done, its output holds the change with the
 * lines around it and their numbers. Until then the part is all there is.
 */
export function readChange(
  call: AgentToolCall,
  change: Extract<ToolContent, { type: "diff" }>,
): { lines: DiffLine[]; isPart: boolean } {
  const detail = field(call.output, "detailedContent");
  const changes = (call.content ?? []).filter((part) => part.type === "diff").length;
  if (changes === 1 && typeof detail === "string" && /^\s*diff --git .*\n@@ -/s.test(detail)) {
    return { lines: readUnified(detail.trimStart()).filter((line) => line.kind !== "header"), isPart: false };
  }
  const replaced = field(call.input, "old_str") ?? field(call.input, "old_string");
  const isPart = typeof replaced === "string" && replaced !== "" && replaced === change.old_text;
  return { lines: diffTexts(change.old_text ?? null, change.new_text), isPart };
}
