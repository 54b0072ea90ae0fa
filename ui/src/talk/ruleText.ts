// A remembered answer in words.

import type { PermissionRule, RuleScope } from "../api/types";
import { directoryText } from "./askText";

export const scopes: [RuleScope, string][] = [
  ["session", "this session"],
  ["project", "this project"],
];

export function ruleText({ allow, subject }: PermissionRule): string {
  const verb = allow ? "Allow" : "Deny";
  switch (subject.type) {
    case "command":
      return subject.cwd ? `${verb} this command in ${directoryText(subject.cwd)}` : `${verb} this command`;
    case "commands":
      return `${verb} every command of ${subject.agent}`;
    case "files":
      return `${verb} every change to these files`;
    case "edits":
      return `${verb} every change to files in the work directory, except protected ones`;
    case "request":
      return `${verb} “${subject.title}”`;
  }
}
