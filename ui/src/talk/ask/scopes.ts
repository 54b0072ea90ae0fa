// How far an answer for always reaches, the narrowest first.

import type { PermissionRequest, RuleEffect, RuleScope } from "../../api/types";
import { covers } from "../askText";

type Scope = NonNullable<PermissionRequest["scopes"]>[number];
/** What a rule would be about. */
type About = Scope["subject"]["type"];

export interface Reach {
  text: string;
  about: About;
  where: RuleScope;
  effects: readonly RuleEffect[];
  /** What goes along with the answer. */
  answer: { scope: string } | { remember: RuleScope };
}

const places: [RuleScope, string][] = [
  ["session", "in this session"],
  ["project", "in every session of this project"],
];

/** As the server words it; else what the page knows that it would cover. */
export function reachesOf(request: PermissionRequest, agent: string): Reach[] {
  const known = effectsOf(request);
  const told = request.scopes ?? [];
  if (told.length > 0)
    return told.map(({ id, text, subject, scope, effects }) => ({
      text: text.replace(/^This command/, "This exact command").replace("this agent", agent),
      about: subject?.type ?? "request",
      where: scope ?? "session",
      effects: known.filter((effect) => effects?.includes(effect) ?? true),
      answer: { scope: id },
    }));
  const what = covers(request);
  if (what === null || !request.options.some((option) => option.kind === "allow_always")) return [];
  const words = what.slice(0, 1).toUpperCase() + what.slice(1);
  return places.map(([remember, where]) => ({
    text: `${words}, ${where}`,
    about: "request",
    where: remember,
    effects: ["allow"],
    answer: { remember },
  }));
}

/** What the agent offers an answer for. */
function effectsOf({ options }: PermissionRequest): RuleEffect[] {
  const has = (start: string) => options.some(({ kind }) => kind.startsWith(start));
  return [...(has("allow") ? (["allow"] as const) : []), ...(has("reject") ? (["deny"] as const) : [])];
}

/** What else somebody should know who chooses it. */
export function hintOf(reach: Reach, effect: RuleEffect, agent: string): string {
  const end = reach.where === "session" ? "Ends with the session." : "Until you revoke it in Saved permissions.";
  if (effect === "deny") {
    if (reach.about === "commands") return `${agent} can’t run any command. ${end}`;
    return `${agent} gets a no, and you aren’t asked. ${end}`;
  }
  switch (reach.about) {
    case "command":
      return `${end} A changed argument asks again.`;
    case "commands":
      return "Includes commands you haven’t seen, such as rm and git push.";
    case "edits":
      return `Includes files you haven’t seen. Protected files still ask. ${end}`;
    default:
      return end;
  }
}

const nouns: Record<About, string> = {
  command: "this command",
  commands: "every command",
  files: "changes to this",
  edits: "every change",
  request: "this request",
};

/** What the button names. */
export function grantOf({ about }: Reach, effect: RuleEffect): string {
  return `Always ${effect} ${nouns[about]}`;
}
