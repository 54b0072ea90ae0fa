// How the page looks on this device: kept by the browser. The page's first lines apply it before anything is drawn; here it is changed.

import { createSignal } from "solid-js";
import { readStored, store } from "./storage";

export const themes = ["system", "light", "dark"] as const;
export const textSizes = ["13", "15", "17"] as const;
export const motions = ["system", "reduced"] as const;

export interface Appearance {
  theme: (typeof themes)[number];
  text: (typeof textSizes)[number];
  motion: (typeof motions)[number];
}

const defaults: Appearance = { theme: "system", text: "15", motion: "system" };
/** The bar of the browser above the page. */
const bar_colours = { light: "#f7f7f9", dark: "#101216" };

const one = <T extends string>(known: readonly T[], stored: string | null, otherwise: T): T =>
  known.find((value) => value === stored) ?? otherwise;

const read = (): Appearance => ({
  theme: one(themes, readStored("theme"), defaults.theme),
  text: one(textSizes, readStored("text"), defaults.text),
  motion: one(motions, readStored("motion"), defaults.motion),
});

const [appearance, setAppearance] = createSignal<Appearance>(defaults);

export { appearance };

export const isDefault = (name: keyof Appearance) => appearance()[name] === defaults[name];

function apply(now: Appearance): void {
  const { dataset } = document.documentElement;
  for (const name of ["theme", "text", "motion"] as const) {
    if (now[name] === defaults[name]) delete dataset[name];
    else dataset[name] = now[name];
  }
  for (const bar of document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")) {
    const own = bar.media.includes("dark") ? "dark" : "light";
    bar.content = bar_colours[now.theme === "system" ? own : now.theme];
  }
}

export function applyAppearance(): void {
  const now = read();
  setAppearance(now);
  apply(now);
}

export function choose<K extends keyof Appearance>(name: K, value: Appearance[K]): void {
  store(name, value === defaults[name] ? "" : value);
  applyAppearance();
}

applyAppearance();
