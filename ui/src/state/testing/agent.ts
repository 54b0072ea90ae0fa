// An agent as the server describes one. For tests only.

import type { Agent } from "../../api/types";

export function makeAgent(id: string, fields: Partial<Agent> = {}): Agent {
  const known = {
    title: id,
    about: "",
    installed: true,
    health: "ok",
    abilities: [],
    can_login: false,
    can_logout: false,
    deletes_records: false,
    sandbox_open: [],
  };
  return { id, ...known, ...fields };
}
