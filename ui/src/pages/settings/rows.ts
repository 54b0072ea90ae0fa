// One row of the settings page, whoever keeps its value: the server or this browser.

import type { Component } from "solid-js";

export interface SettingsRow {
  key: string;
  /** The name of its section. */
  section: string;
  title: string;
  about: string;
  /** More words that find it. */
  also: string[];
  Control: Component<{ labelledBy: string }>;
}

/** Words that people look for, by the key of a setting. */
export const synonyms: Record<string, string[]> = {
  agent: ["copilot", "codex", "claude"],
  copilot_connection_ttl: ["idle timeout", "keep alive"],
  permission_timeout: ["waiting time", "no answer"],
  permission_policy: ["auto-approve", "ask", "allow", "read only"],
  ignore: ["exclude", "gitignore"],
  model: ["llm", "gpt"],
  model_provider: ["api key", "endpoint"],
  max_agent_iterations: ["iterations", "loop"],
  disk_quota: ["disk quota", "space"],
  bind: ["port", "listen"],
  tls: ["https", "encryption"],
  log: ["verbosity", "debug"],
};

const has = (text: string, query: string) => text.toLowerCase().includes(query.toLowerCase());

export const matches = (row: SettingsRow, query: string): boolean =>
  [row.title, row.about, row.section, ...row.also].some((text) => has(text, query));

/** The word that found it, where neither its title nor its meaning has it. */
export function foundAs(row: SettingsRow, query: string): string | null {
  if ([row.title, row.about, row.section].some((text) => has(text, query))) return null;
  return row.also.find((text) => has(text, query)) ?? null;
}
