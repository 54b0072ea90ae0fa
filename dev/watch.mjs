// The development loop: builds the server with the debug profile and starts it again whenever a Rust source changes, and
// serves the page with Vite, which reloads it by itself and passes everything else on to the server. No dependencies.
//
//   node dev/watch.mjs [arguments of `voxpilot serve`]
//
// The page's port is 5173 or the next free one, the server's 8001: set PAGE_PORT or SERVER_PORT for others.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "../..");
const binary = join(root, "target/debug/voxpilot");
const address = `127.0.0.1:${process.env.SERVER_PORT ?? "8001"}`;
const pagePort = Number(process.env.PAGE_PORT ?? "5173");
// Of its own, so that a try never touches the sessions of every day; outside of the directory that agents work in.
const dataDir = join(homedir(), ".local/share/voxpilot-dev");
const LOOK_MS = 500;

const say = (text) => console.log(`dev: ${text}`);

/** The newest time at which a Rust source or a manifest changed. */
function newest() {
  let latest = 0;
  const look = (path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) latest = Math.max(latest, stat.mtimeMs);
  };
  const walk = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (/\.(rs|sql|toml|css)$/.test(entry.name)) look(path);
    }
  };
  walk(join(root, "crates"));
  for (const name of ["Cargo.toml", "Cargo.lock"]) look(join(root, name));
  return latest;
}

async function run(command, args, options = {}) {
  const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
  const [code] = await once(child, "exit");
  return code === 0;
}

let server;

/** Starts the server and gives the link that logs in, once it listens. */
async function start() {
  const args = ["serve", "--bind", address, "--data-dir", dataDir, ...process.argv.slice(2)];
  server = spawn(binary, args, { stdio: ["inherit", "pipe", "inherit"] });
  const started = server;
  started.once("exit", (code) => {
    if (started === server && !ending) say(`the server ended with ${code}; it is started again with the next change`);
  });
  // Read to its end: a server whose output nobody takes would have to stop.
  return new Promise((resolve) => {
    let text = "";
    started.stdout.on("data", (piece) => {
      text += piece;
      const link = /^open (\S+)$/m.exec(text);
      if (link) resolve(link[1]);
    });
    started.stdout.once("end", () => resolve(undefined));
  });
}

async function stop() {
  const old = server;
  server = undefined;
  if (!old || old.exitCode !== null) return;
  old.kill("SIGTERM");
  await once(old, "exit");
}

let ending = false;
let vite;

async function end() {
  if (ending) return;
  ending = true;
  await stop();
  await vite?.close();
  process.exit(0);
}

async function startPage() {
  // Not VOXPILOT_SOMETHING: the server refuses such a name if it does not know it.
  process.env.DEV_SERVER = `http://${address}`;
  const entry = JSON.parse(readFileSync(join(root, "ui/node_modules/vite/package.json"), "utf8")).exports["."];
  const { createServer } = await import(join(root, "ui/node_modules/vite", entry.default ?? entry));
  const page = await createServer({ root: join(root, "ui"), server: { host: "127.0.0.1", port: pagePort }, logLevel: "warn" });
  await page.listen();
  return page;
}

process.on("SIGINT", end);
process.on("SIGTERM", end);

let seen = 0;
for (;;) {
  const now = newest();
  if (now !== seen && !ending) {
    seen = now;
    say("building");
    const began = Date.now();
    // The running server stays until there is another one.
    if (await run("cargo", ["build", "--quiet", "--locked", "--package", "voxpilot"])) {
      await stop();
      const link = await start();
      say(`built in ${((Date.now() - began) / 1000).toFixed(1)} s`);
      if (link) {
        vite ??= await startPage();
        const { port } = vite.httpServer.address();
        console.log(`open http://127.0.0.1:${port}/login${new URL(link).search}`);
      }
    } else say("the build failed; mend it and it goes on");
  }
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
