// Colours one text after the other, beside the page. It may hang on a text: whoever asked ends it then.

import hljs from "highlight.js/lib/core";
import { grammars, type Language, parts } from "./languages";
import { runsOf } from "./runs";

export interface Job {
  id: number;
  text: string;
  language: Language;
}
/** First that the grammar is there and the work begins, then what came of it. */
export type Reply = { id: number; started: true } | { id: number; runs: Uint32Array | null };

async function load(language: Language): Promise<void> {
  const needed = [language, ...(parts[language] ?? [])].filter((name) => hljs.getLanguage(name) === undefined);
  for (const name of needed) hljs.registerLanguage(name, (await grammars[name]()).default);
}

function colour(text: string, language: Language): Uint32Array | null {
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  return runsOf(value, text);
}

const reply = (message: Reply) => postMessage(message);

addEventListener("message", async ({ data: { id, text, language } }: MessageEvent<Job>) => {
  try {
    await load(language);
    reply({ id, started: true });
    reply({ id, runs: colour(text, language) });
  } catch {
    // Also a grammar that could not be loaded: the text stays plain.
    reply({ id, runs: null });
  }
});
