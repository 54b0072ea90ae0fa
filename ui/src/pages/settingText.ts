// The words for settings: where a value came from, and values as people read and write them.

import type { Setting, SettingValue } from "../api/types";

/** Short, for the end of the row. */
export function originText({ origin }: Setting): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "user":
      return "user file";
    case "project":
      return "voxpilot.toml";
    case "environment":
      return "environment";
    case "flag":
      return "flag";
    case "here":
      return "changed here";
  }
}

/** Who holds it, where nobody can change it here. */
export function lockText(setting: Setting): string | null {
  const name = setting.origin.name ?? "";
  if (setting.locked) {
    return setting.origin.kind === "flag" ? `set by the flag ${name}` : `set by the variable ${name}`;
  }
  return setting.changeable ? null : "set in voxpilot.toml, by a variable or a flag";
}

export function shownValue(setting: Setting): string {
  const value = (setting.value ?? null) as SettingValue;
  if (setting.kind === "secret") return value === null ? "not set" : "set, and not shown";
  if (value === null) return "not set";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** What somebody typed, as the server wants it; null takes back what was chosen here. */
export function typedValue(setting: Setting, text: string): SettingValue {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (setting.kind === "list") {
    return trimmed
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  }
  if (setting.kind === "number" && /^\d+$/.test(trimmed)) return Number(trimmed);
  return trimmed;
}

const words: Record<string, string> = { ask: "Ask", auto: "Auto", "read-only": "Read only", deny: "Deny" };

export const choiceText = (choice: string): string => words[choice] ?? choice;
