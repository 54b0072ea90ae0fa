// A remembered answer in words.

import type { PermissionRule, RuleScope } from "../api/types";

export const scopes: [RuleScope, string][] = [
  ["session", "this session"],
  ["project", "this project"],
];

export function ruleText({ allow, subject }: PermissionRule): string {
  const verb = allow ? "Allow" : "Reject";
  switch (subject.type) {
    case "command":
      return `${verb} this command`;
    case "edits":
      return `${verb} every change of a file`;
    case "request":
      return `${verb} “${subject.title}”`;
  }
}
