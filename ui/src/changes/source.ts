// Where a review comes from: the work of a session, or an artifact that a tool has stored.

import { changesApi } from "../api/changes";
import { api } from "../api/client";
import { type ReviewCalls, reviewApi } from "../api/review";
import { readSummary } from "../api/summary";
import type { Changes, FileChange, Notes, Since, TextSide } from "../api/types";
import { shortTitle } from "../state/delegation";

type Status = FileChange["status"];

/** What can be done with the files themselves. */
export interface Work {
  revert(since: Since, path: string, version: string, hunk?: number): Promise<{ undo: string }>;
  undo(undo: string): Promise<void>;
}

export interface Source {
  /** Under which name this browser keeps what belongs to it. */
  key: string;
  load(since: Since): Promise<Changes>;
  /** Another one when anything of it is another; null where it stays what it is. */
  version: ((since: Since) => Promise<string>) | null;
  notes(): Promise<Notes>;
  calls: ReviewCalls;
  /** One file with everything, where it was left out. */
  file: ((since: Since, path: string) => Promise<FileChange>) | null;
  lines: ((since: Since, path: string, from: number, to: number) => Promise<{ lines: string[]; total: number }>) | null;
  /** Where one side of a changed image is. */
  picture: ((since: Since, path: string, side: TextSide) => string) | null;
  work: Work | null;
  /** Whose agents a review may go to. */
  session(): string | null;
}

export function sessionSource(id: string): Source {
  return {
    key: id,
    load: (since) => changesApi.changes(id, since),
    version: async (since) => (await readSummary(id, since)).version,
    notes: () => reviewApi.of(id),
    calls: reviewApi.session(id),
    file: (since, path) => changesApi.file(id, since, path),
    lines: (since, path, from, to) => changesApi.lines(id, since, path, "new", from, to),
    picture: (since, path, side) => changesApi.pictureUrl(id, since, path, side),
    work: {
      revert: (since, path, version, hunk) =>
        changesApi.revert(id, { since, path, version, ...(hunk === undefined ? {} : { hunk }) }),
      undo: (undo) => changesApi.undo(id, undo),
    },
    session: () => id,
  };
}

const statuses: readonly string[] = ["added", "modified", "deleted", "renamed", "type_changed"] satisfies Status[];

export function artifactSource(id: string, onTitle: (title: string) => void): Source {
  let session: string | null = null;
  const read = () => api.artifact(id);
  return {
    key: `artifact.${id}`,
    async load() {
      const stored = await read();
      session = stored.session_id;
      onTitle(stored.title);
      return {
        since: "head",
        source: "git",
        project: stored.title,
        branch: null,
        base: null,
        version: id,
        cut: false,
        total_files: stored.total_files,
        total_additions: stored.total_additions,
        total_deletions: stored.total_deletions,
        sinces: [],
        meanwhile: [],
        files: stored.files.map((file) => ({
          ...file,
          status: statuses.includes(file.status) ? (file.status as Status) : "modified",
          too_large: false,
        })),
      };
    },
    version: null,
    async notes() {
      const { comments, sent, viewed } = await read();
      return { comments, sent, viewed };
    },
    calls: reviewApi.artifact(id),
    file: null,
    lines: null,
    picture: null,
    work: null,
    session: () => session,
  };
}

export interface Receiver {
  /** An agent session; null for whoever reads the session's messages. */
  name: string | null;
  text: string;
}

/** For whom a review may be. Without a main AI the messages go to the agent's main session, which is not named twice. */
export async function receivers(id: string): Promise<Receiver[]> {
  const [session, { agents }] = await Promise.all([api.session(id), api.agentSessions(id)]);
  const isRelay = session.model === "relay";
  const first = { name: null, text: isRelay ? shortTitle(session.agent) : "Main AI" };
  const others = agents.filter(({ name }) => !(isRelay && name === "main"));
  return [first, ...others.map(({ name, agent }) => ({ name, text: `${shortTitle(agent)} [${name}]` }))];
}
