// Which paths of a session's work directory are files: asked once for many, and remembered.

import { filesApi } from "../api/files";

/** As many as the server takes at once. */
const most_paths = 200;
const kept_paths = 5_000;
/** What is written next is asked for together. */
const rest_ms = 30;
/** An agent may make a file right after it has named it. */
const absent_ms = 10_000;

export interface Viewable {
  /** Undefined until it is known. */
  knows(path: string): boolean | undefined;
  /** Becomes known soon, for all of them at once. A server that is away is asked when somebody asks again. */
  ask(paths: string[]): Promise<void>;
}

export function createViewable(session: string, look = filesApi.viewable): Viewable {
  const files = new Set<string>();
  const absent = new Map<string, number>();
  let wanted = new Set<string>();
  let asking: Promise<void> | null = null;

  const run = async () => {
    await new Promise((resolve) => setTimeout(resolve, rest_ms));
    const paths = [...wanted].filter((path) => knows(path) === undefined);
    wanted = new Set();
    asking = null;
    for (let at = 0; at < paths.length; at += most_paths) {
      const part = paths.slice(at, at + most_paths);
      const there = new Set(await look(session, part));
      if (files.size + absent.size > kept_paths) {
        files.clear();
        absent.clear();
      }
      for (const path of part) {
        if (there.has(path)) files.add(path);
        else absent.set(path, Date.now());
      }
    }
  };
  const knows = (path: string) => {
    if (files.has(path)) return true;
    return Date.now() - (absent.get(path) ?? Number.NEGATIVE_INFINITY) < absent_ms ? false : undefined;
  };
  return {
    knows,
    ask(paths) {
      for (const path of paths) wanted.add(path);
      asking ??= run().catch(() => {});
      return asking;
    },
  };
}
