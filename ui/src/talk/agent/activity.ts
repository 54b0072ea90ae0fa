// The second line of an agent's card: what it does now, or what came of it.

import { type IconName, kindIcon } from "../../kit/Icon";
import type { Flow } from "../../state/flow";
import type { StreamingToolCall } from "../../state/model";
import { textFrom } from "../../state/text";
import { isDenied } from "../callStatus";
import { callsOf, callWords, isRunning, type Words } from "../timeline/rows";

const longest_result = 160;

export interface Activity extends Words {
  icon: IconName | null;
}

const plain = (text: string, icon: IconName | null = null): Activity => ({ text, code: "", icon });

export function activityOf(flow: Flow | null, path: (text: string) => string): Activity {
  const call = callsOf(flow).findLast(isRunning);
  if (call) return { ...callWords(call, true, path), icon: kindIcon(call.kind) };
  switch (flow?.parts.at(-1)?.type) {
    case undefined:
      return plain("Starting");
    case "thought":
      return plain("Thinking", "think");
    case "text":
      return plain("Writing", "comment");
    default:
      return plain("Working");
  }
}

/** The first line of a text that says something, without the marks in it. */
export function plainLine(text: string): string {
  const line = text
    .split("\n")
    .map((line) => line.replace(/^[\s>#*-]+/, "").replace(/\*\*|`/g, ""))
    .find((line) => line.trim() !== "" && !/^\|?[\s:|-]+$/.test(line));
  return line?.trim() ?? "";
}

/** What came of it, in a sentence. */
export function resultOf(call: StreamingToolCall): string {
  // Why it came to nothing is in the foot of its card.
  if (call.isError || isDenied(call)) return "";
  const told = call.copilotDone?.summary || lastWords(call.copilotStream) || "";
  const line = plainLine(told);
  const sentence = line?.match(/^.*?[.!?](?=\s|$)/)?.[0] ?? line;
  return sentence.length > longest_result ? `${sentence.slice(0, longest_result).trimEnd()}…` : sentence.trim();
}

function lastWords(flow: Flow | null): string {
  const last = flow?.parts.findLast((part) => part.type === "text");
  return last?.type === "text" ? textFrom(last.text, Math.max(0, last.text.length - 2_000)) : "";
}
