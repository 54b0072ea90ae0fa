// The words for settings: where a value came from, and values as people read and write them.

import type { Setting, SettingValue } from "../../api/types";
import { modelTitle } from "../../shell/Pills";

/** What applies where nothing is set. */
const unset: Record<string, string> = {
  permission_timeout: "No limit",
  disk_quota: "No limit",
  model_provider: "None",
};

export const unsetText = (key: string): string => unset[key] ?? "Not set";

const choices: Record<string, string> = {
  ask: "Ask",
  auto: "Auto",
  "auto-all": "Auto, including protected files",
  "read-only": "Read only",
  deny: "Deny",
  off: "Off",
  "self-signed": "Self-signed",
  process: "Every crash",
  disk: "Every crash and power loss",
  text: "Text",
  json: "JSON",
  github: "GitHub Models",
  openai: "OpenAI",
  anthropic: "Anthropic",
  gemini: "Gemini",
  ollama: "Ollama",
  openrouter: "OpenRouter",
};

export const choiceText = (choice: string): string => choices[choice] ?? choice;

const seconds_a_minute = 60;

/** Minutes, but for a time that is not one in round figures. */
export const unitText = (setting: Setting, value: unknown): string => {
  if (setting.unit === "steps") return "steps";
  if (setting.unit !== "seconds") return "";
  return typeof value === "number" && value % (seconds_a_minute / 2) !== 0 ? "s" : "min";
};

/** A number as it stands in its field, beside its unit. */
export function numberText(setting: Setting, value: unknown): string {
  if (typeof value !== "number") return "";
  return String(unitText(setting, value) === "min" ? value / seconds_a_minute : value);
}

/** A value in words, for whoever only reads it. */
export function shownValue(setting: Setting, value = setting.effective): string {
  if (value === null || value === undefined) return unsetText(setting.key);
  if (setting.kind === "secret") return "Set, never shown";
  if (setting.kind === "choice") return choiceText(String(value));
  if (setting.kind === "number") return `${numberText(setting, value)} ${unitText(setting, value)}`.trim();
  if (setting.key === "model") return modelTitle(String(value));
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** Where the value comes from, in a line below it. */
export function sourceText(setting: Setting): string {
  const { kind, name } = setting.origin;
  switch (kind) {
    case "default":
      return "Default";
    case "user":
      return "From your voxpilot.toml";
    case "project":
      return "From voxpilot.toml";
    case "environment":
    case "flag":
      return `Set by ${name}`;
    case "here": {
      const isKnown = setting.default !== null || setting.key in unset;
      return isKnown ? `Set here. Default: ${lowered(shownValue(setting, setting.default ?? null))}` : "Set here";
    }
  }
}

const lowered = (text: string) => (text === "No limit" ? "no limit" : text);

/** A number as it was typed, in the unit that it was shown with; null where it is none. */
export function typedNumber(setting: Setting, text: string): number | null {
  const number = Number(text.trim().replace(",", "."));
  if (text.trim() === "" || !Number.isFinite(number) || number < 0) return null;
  return Math.round(unitText(setting, setting.effective) === "min" ? number * seconds_a_minute : number);
}

export function typedLines(text: string): SettingValue {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.length === 0 ? null : lines;
}
