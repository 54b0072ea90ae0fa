// What still runs of a test: every process it started, directly or not, has the test's directory in its environment,
// or, as a runner does, on its command line.

import { readdirSync, readFileSync } from "node:fs";

export interface Process {
  pid: number;
  command: string;
}

export function processesOf(directory: string): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const environment = readFileSync(`/proc/${name}/environ`, "latin1");
        const command = readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ").trim();
        if (!environment.includes(directory) && !command.includes(directory)) return [];
        // A zombie has no command line; it is gone but for its parent's notice.
        return command === "" ? [] : [{ pid: Number(name), command }];
      } catch {
        // It ended while we looked, or is somebody else's.
        return [];
      }
    });
}
