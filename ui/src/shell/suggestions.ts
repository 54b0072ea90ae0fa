// What one might begin with: only such things as the chosen agent can do.

import type { Agent, Project, ServerInfo } from "../api/types";
import type { IconName } from "../kit/Icon";

export interface Suggestion {
  text: string;
  icon: IconName;
  changes?: Project["changes"];
}

const whole = (text: string): Suggestion => ({ text, icon: "execute" });

/** The demo agent has no model behind it and follows these phrases. */
export const suggestionsForDemo: [Suggestion, ...Suggestion[]] = [
  whole("Create a file hello.txt with hello from VoxPilot"),
  whole("Run `git status`"),
  whole("Count to 50"),
];

export function suggestionsFor(
  agent: Agent | undefined,
  info: ServerInfo | null,
  isRelay: boolean,
  changes: Project["changes"],
): Suggestion[] {
  if (info === null) return [];
  const own = info.suggestions.map(whole);
  // Behind a main AI it is that which answers, whoever does the work.
  if (agent?.id === "demo" && isRelay) return own.length > 0 ? own : suggestionsForDemo;
  const review: Suggestion[] =
    changes && changes.files > 0
      ? [
          {
            text: changes.files === 1 ? "Review my uncommitted file" : `Review my ${changes.files} uncommitted files`,
            icon: "changes",
            changes,
          },
        ]
      : [];
  return [...review, ...(own.length > 0 ? own : [whole("Run the tests and fix what fails")])];
}
