// What the server has to offer for a word that is being written: files of the project, commands of the agent.

import { api } from "../api/client";
import type { Completing } from "./completion";

export interface Suggestion {
  /** What is put into the text. */
  value: string;
  label: string;
  description: string;
}

export async function suggest(sessionId: string, { kind, query }: Completing): Promise<Suggestion[]> {
  if (kind === "path") {
    const { paths } = await api.files(sessionId, query);
    return paths.map((path) => ({ value: path, label: path, description: "" }));
  }
  const { agents } = await api.agentSessions(sessionId);
  const commands = agents.flatMap((agent) => agent.commands ?? []);
  const fitting = commands.filter(
    (command, index) =>
      command.name.toLowerCase().startsWith(query.toLowerCase()) &&
      commands.findIndex((other) => other.name === command.name) === index,
  );
  return fitting.map(({ name, description }) => ({ value: name, label: `/${name}`, description }));
}
