// What the parts of the page share.

import type { Agents } from "../state/agents";
import type { ProjectState } from "../state/project";
import type { ServerState } from "../state/server";
import type { Sessions } from "../state/sessions";
import type { SessionActions } from "./SessionMenu";

export interface Shell {
  sessions: Sessions;
  agents: Agents;
  server: ServerState;
  project: ProjectState;
  actions: SessionActions;
}
