import { expect, it } from "vitest";
import kit from "./kit.css?raw";
import tokens from "./tokens.css?raw";

const schemes = ["light", "dark"] as const;

function colour(name: string, scheme: (typeof schemes)[number]): string {
  const value = new RegExp(`--${name}: ([^;]+);`).exec(tokens)?.[1] ?? "";
  const [light, dark] = value.match(/#[0-9a-f]{6}/g) ?? [];
  const found = scheme === "light" ? light : (dark ?? light);
  if (found === undefined) throw new Error(`there is no colour --${name}`);
  return found;
}

/** As WCAG 2 counts it. */
function luminance(hex: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (light + 0.05) / (dark + 0.05);
}

const surfaces = ["rail", "canvas", "raised", "well", "hover"];
const pairs: [text: string[], on: string[], least: number][] = [
  [["text", "text-2", "text-3"], surfaces, 4.5],
  [["accent-text"], ["rail", "canvas", "raised", "well", "accent-soft"], 4.5],
  [["on-accent"], ["accent", "accent-hover"], 4.5],
  [["wait-text"], ["canvas", "raised", "wait-soft"], 4.5],
  [["bad"], ["canvas", "raised", "bad-soft"], 4.5],
  [["add-text"], ["canvas", "add", "add-gut"], 4.5],
  [["del-text"], ["canvas", "del", "del-gut"], 4.5],
  [["text", "text-2"], ["add", "add-2", "del", "del-2"], 4.5],
  [["c-key", "c-str", "c-fn", "c-num", "c-rem"], ["canvas", "well", "add", "del"], 4.5],
  // What one writes into or chooses from is seen by its edge.
  [["edge", "focus"], ["rail", "canvas", "raised", "well"], 3],
];

it.each(schemes)("every colour is told from what it stands on, in %s", (scheme) => {
  const weak = pairs.flatMap(([texts, grounds, least]) =>
    texts.flatMap((text) =>
      grounds.flatMap((ground) => {
        const found = contrast(colour(text, scheme), colour(ground, scheme));
        return found < least ? [`${text} on ${ground}: ${found.toFixed(2)} of ${least}`] : [];
      }),
    ),
  );
  expect(weak).toEqual([]);
});

it("every select is a field, with an edge that is seen", () => {
  const sources = import.meta.glob<string>("../**/*.tsx", { query: "?raw", import: "default", eager: true });
  const selects = Object.values(sources).flatMap((source) => source.match(/<select\b[^>]*>/g) ?? []);
  expect(selects.length).toBeGreaterThan(0);
  for (const select of selects) expect(select).toMatch(/class="field/);
  expect(kit).toMatch(/\n\.field \{[^}]*border: 1px solid var\(--edge\)/);
});
