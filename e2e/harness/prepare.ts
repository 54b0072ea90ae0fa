// Before the first test: the server must be there, and the peers it talks to are built if they are not.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { missing, voxpilot, workspace } from "./binaries";

export default function prepare(): void {
  if (!existsSync(voxpilot)) throw new Error(`${voxpilot} is not built: run make build`);
  if (missing.length === 0) return;
  const build = ["build", "--release", "--locked", "-p", "testkit", "--bins"];
  execFileSync("cargo", build, { cwd: workspace, stdio: "inherit" });
}
