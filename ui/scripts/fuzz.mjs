// `npm run fuzz -- --seconds 60`: hostile markdown for so long. `--minutes` is shared with the targets of `crates/fuzz`.
// `--replay FILE` runs one text again.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

/** This one and those of `crates/fuzz`. */
const targets = 9;
const default_seconds = 10;
/** Where the other targets put what they found, too. */
const found_dir = "../crates/fuzz/found/markdown";

const given = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};

const minutes = given("--minutes");
const seconds =
  minutes === undefined ? Number(given("--seconds") ?? default_seconds) : (Number(minutes) * 60) / targets;
const env = {
  ...process.env,
  VITE_FUZZ_SECONDS: String(seconds),
  VITE_FUZZ_SEED: given("--seed") ?? String(Math.floor(Math.random() * 1_000_000_000)),
};
const replay = given("--replay");
if (replay !== undefined) env.VITE_FUZZ_TEXT = readFileSync(replay, "utf8");

const run = spawnSync("npx", ["vitest", "run", "--no-color", "src/talk/markdown/fuzz"], { env, encoding: "utf8" });
const output = run.stdout + run.stderr;
const finding = /finding (\{"property":.*\})$/m.exec(output)?.[1];
if (run.status === 0)
  process.stdout.write(`${/markdown: seed.*/.exec(output)?.[0] ?? "markdown: every property holds"}\n`);
else if (finding === undefined) process.stderr.write(output);
else {
  const { property, text } = JSON.parse(finding);
  mkdirSync(found_dir, { recursive: true });
  const path = `${found_dir}/${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  writeFileSync(path, text);
  process.stderr.write(
    `markdown: ${property}: ${JSON.stringify(text)}\n  replay: npm run fuzz -- --replay ${path}   (in ui/)\n`,
  );
}
process.exit(run.status ?? 1);
