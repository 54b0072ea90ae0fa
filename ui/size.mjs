// How much JavaScript a screen needs before it shows anything, after `npm run build`: what index.html names, the chunk of the
// screen with everything that these import, and the worker that brings the events. What is loaded later is not in it.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const most_bytes = 90_000;
/** What is opened by a link, and the chunks that it is made of besides those of every page. */
const screens = { home: ["Home"], session: ["SessionView"], "session of a main AI": ["SessionView", "cards"] };
/** Brings the events; both screens wait for it. */
const worker = "shared";
/** Words that only what is loaded later may hold, and what they stand for. */
const later = { ignoreIllegals: "the highlighter", "Send review": "the review" };

const assets = new URL("dist/assets/", import.meta.url);
const all = readdirSync(assets).filter((name) => name.endsWith(".js"));
const html = readFileSync(new URL("dist/index.html", import.meta.url), "utf8");
const named = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g)].map(([, name]) => name);
const read = (name) => readFileSync(new URL(name, assets), "utf8");

/** The chunk of a module that is loaded by itself. */
function chunkOf(module) {
  const found = all.filter((name) => name.startsWith(`${module}-`));
  if (found.length !== 1) throw new Error(`${found.length} chunks are called ${module}: run npm run build`);
  return found[0];
}

/** These and everything that they import before they run. */
function withImports(names) {
  const found = new Set(names);
  for (const name of found) {
    for (const [, other] of read(name).matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) found.add(other);
  }
  return [...found];
}

function problemsOf(names, bytes) {
  const held = Object.entries(later).filter(([word]) => names.some((name) => read(name).includes(word)));
  return [
    ...(bytes > most_bytes ? [`more than ${most_bytes / 1000} kB: load something later`] : []),
    ...held.map(([, what]) => `${what} is in it`),
  ];
}

if (named.length === 0) throw new Error("index.html names no script: run npm run build");
for (const [screen, modules] of Object.entries(screens)) {
  const names = [...withImports([...named, ...modules.map(chunkOf)]), chunkOf(worker)];
  const bytes = names.reduce((sum, name) => sum + gzipSync(read(name)).length, 0);
  process.stdout.write(`${screen}: ${(bytes / 1000).toFixed(1)} kB gzip in ${names.length} files\n`);
  for (const problem of problemsOf(names, bytes)) {
    process.stderr.write(`${screen}: ${problem}\n`);
    process.exitCode = 1;
  }
}
