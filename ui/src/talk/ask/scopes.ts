// How far an answer for always reaches, the narrowest first.

import type { PermissionRequest, RuleScope } from "../../api/types";
import { covers } from "../askText";

export interface Reach {
  /** Named by itself, where the answer is for no other. */
  command?: string;
  text: string;
  /** What goes along with the answer. */
  answer: { scope: string } | { remember: RuleScope };
}

const places: [RuleScope, string][] = [
  ["session", "in this session"],
  ["project", "in every session of this project"],
];

/** As the server words it; else what the page knows that it would cover. */
export function reachesOf(request: PermissionRequest): Reach[] {
  const told = (request.scopes ?? []).filter(({ effects }) => effects?.includes("allow") ?? true);
  if (told.length > 0) return told.map(({ id, text }) => ({ ...named(text, request.command), answer: { scope: id } }));
  const what = covers(request);
  if (what === null || !request.options.some((option) => option.kind === "allow_always")) return [];
  const words = what.slice(0, 1).toUpperCase() + what.slice(1);
  return places.map(([remember, where]) => ({ text: `${words}, ${where}`, answer: { remember } }));
}

const this_command = /^This command,? /;

/** The command instead of the word for it. */
function named(text: string, command: PermissionRequest["command"]): Omit<Reach, "answer"> {
  return command && this_command.test(text) ? { command, text: text.replace(this_command, "") } : { text };
}
