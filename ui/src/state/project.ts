// The project of this server: its name, its branch, and what is not committed in it.

import { createSignal } from "solid-js";
import { list } from "../api/list";
import type { Project } from "../api/types";
import { keepLooking } from "./look";
import type { ServerState } from "./server";

export interface ProjectState {
  name: () => string;
  branch: () => string | null;
  changes: () => Project["changes"];
  refresh(): void;
}

export function createProject(server: ServerState): ProjectState {
  const [project, setProject] = createSignal<Project | null>(null);
  const refresh = () =>
    void list.project().then(setProject, () => {
      // What was known stays; the next look asks again.
    });
  keepLooking(refresh);
  return {
    name: () => server.info()?.title || project()?.name || server.info()?.work_dir_name || "VoxPilot",
    branch: () => project()?.branch ?? null,
    changes: () => project()?.changes ?? null,
    refresh,
  };
}
