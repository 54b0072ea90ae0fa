// Where the programs under test are.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Not called VOXPILOT_SOMETHING: the server refuses a variable of that kind that it does not know. */
export const voxpilot = resolve(process.env.VOXPILOT ?? join(root, "target/release/voxpilot"));

/** The peers of the tests, built beside the server. */
const peers = dirname(voxpilot);
export const modelServer = join(peers, "model-server");
export const faultyAgent = join(peers, "faulty-agent");
/** Of the benchmarks; not there after an ordinary build. */
export const fastAgent = join(peers, "fast-agent");

export const workspace = root;
export const missing = [modelServer, faultyAgent].filter((path) => !existsSync(path));
