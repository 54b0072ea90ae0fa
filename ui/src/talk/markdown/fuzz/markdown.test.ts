// Hostile markdown. `npm test` runs the seeds and a few texts made of them; `npm run fuzz` goes on for as long as it is told.

import { afterAll, describe, expect, it, vi } from "vitest";
import { minimised, mutated, Random } from "./generate";
import { broken, drawnWhole } from "./properties";
import { seeds, words } from "./seeds";

// Colours come from a worker, which there is none of here.
vi.mock("../../../code/highlight", () => ({ colour: () => undefined, languageNamed: () => null }));

// What draws code is asked for by every block, and comes after it.
afterAll(() => vi.dynamicImportSettled());

const quick_cases = 100;
const max_corpus = 4_000;

const seconds = Number(import.meta.env.VITE_FUZZ_SECONDS ?? 0);
const seed = Number(import.meta.env.VITE_FUZZ_SEED ?? 1);
const replayed: string | undefined = import.meta.env.VITE_FUZZ_TEXT;

/** The property that it breaks when it comes in pieces, cut in so many ways. */
function brokenBy(text: string, ways = 1): string | null {
  for (let cuts = 0; cuts < ways; cuts++) {
    const property = broken(text, new Random(cuts));
    if (property !== null) return property;
  }
  return null;
}

/** `scripts/fuzz.mjs` keeps what stands in the braces. */
function check(text: string, ways = 1): void {
  const property = brokenBy(text, ways);
  if (property === null) return;
  const small = minimised(text, (part) => brokenBy(part, ways) === property);
  expect.fail(`finding ${JSON.stringify({ property, text: small })}`);
}

describe("hostile markdown", () => {
  it("is drawn safely, and the same in pieces as at once", { timeout: (seconds + 120) * 1000 }, () => {
    if (replayed !== undefined) return check(replayed, 8);
    for (const text of seeds) check(text, 8);
    const random = new Random(seed);
    const corpus = [...seeds];
    const outlines = new Set<string>();
    const began = performance.now();
    let cases = 0;
    while (seconds > 0 ? performance.now() < began + seconds * 1000 : cases < quick_cases) {
      const text = mutated(random, corpus, words);
      check(text);
      cases += 1;
      // A text with an outline that was not seen before is worth changing further.
      const outline = [...drawnWhole(text).querySelectorAll("*")].slice(0, 12).map((element) => element.tagName);
      if (corpus.length < max_corpus && !outlines.has(outline.join())) corpus.push(text);
      outlines.add(outline.join());
    }
    if (seconds > 0) {
      const rate = Math.round((cases * 1000) / (performance.now() - began));
      // biome-ignore lint/suspicious/noConsole: what a run of the fuzzer says.
      console.log(`markdown: seed ${seed}, ${cases} cases, ${rate} cases/s, corpus ${corpus.length}`);
    }
  });
});
