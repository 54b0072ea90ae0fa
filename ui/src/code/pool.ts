// One worker and what waits for it. A text that it does not finish in time costs it its life, and is cut in halves until the
// line that it hangs on is known: that one stays plain, the others get their colours.

import type { Language } from "./languages";
import { type Line, linesOf, plainLines } from "./runs";
import type { Job, Reply } from "./worker";

/** Code that a person reads is done in a fraction of it, also where the grammar is used for the first time. */
export const deadline_ms = (text: string) => 300 + text.length / 50;
/** The worker, its library and a grammar come over the network. */
const load_deadline_ms = 20_000;
/** Longer lines are not written to be read, and a library takes seconds for one of them. */
const longest_line = 2_000;
/** More is coloured in pieces of this length. */
const largest_piece = 200_000;
const longest_text = 4_000_000;
/** So many times a text may cost the worker its life; what is left then stays plain. */
const most_hangs = 32;
const most_waiting = 256;

export interface WorkerLike {
  postMessage(job: Job): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<Reply>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

interface Task {
  text: string;
  language: Language;
  done(lines: Line[] | null): void;
}

export function createPool(create: () => WorkerLike) {
  let worker: WorkerLike | null = null;
  let isBusy = false;
  let count = 0;
  const waiting: Task[] = [];

  /** Null: not in time. */
  function run(text: string, language: Language): Promise<Uint32Array | "nothing" | null> {
    worker ??= create();
    const at = worker;
    count += 1;
    const id = count;
    return new Promise((resolve) => {
      const end = (result: Uint32Array | "nothing" | null) => {
        clearTimeout(timer);
        at.onmessage = null;
        at.onerror = null;
        if (result === null) drop();
        resolve(result);
      };
      let timer = setTimeout(() => {
        drop();
        end("nothing");
      }, load_deadline_ms);
      at.onerror = () => {
        drop();
        end("nothing");
      };
      at.onmessage = ({ data }) => {
        if (data.id !== id) return;
        if ("runs" in data) return end(data.runs ?? "nothing");
        clearTimeout(timer);
        timer = setTimeout(() => end(null), deadline_ms(text));
      };
      at.postMessage({ id, text, language });
    });
  }

  function drop(): void {
    worker?.terminate();
    worker = null;
  }

  async function colour(lines: string[], language: Language, budget: { hangs: number }): Promise<Line[]> {
    const text = lines.join("\n");
    if (budget.hangs <= 0 || text.trim() === "") return plainLines(text);
    const result = await run(text, language);
    if (result === "nothing") return plainLines(text);
    if (result !== null) return linesOf(text, result);
    budget.hangs -= 1;
    if (lines.length === 1) return plainLines(text);
    const middle = lines.length >> 1;
    const first = await colour(lines.slice(0, middle), language, budget);
    return [...first, ...(await colour(lines.slice(middle), language, budget))];
  }

  async function work(task: Task): Promise<void> {
    const lines = task.text.split("\n");
    // A line that is too long is left out, so that what is around it is understood.
    const short = lines.map((line) => (line.length > longest_line ? "" : line));
    const budget = { hangs: most_hangs };
    const coloured: Line[] = [];
    for (const piece of inPieces(short)) coloured.push(...(await colour(piece, task.language, budget)));
    lines.forEach((line, index) => {
      if (line.length > longest_line) coloured[index] = [{ class: null, text: line }];
    });
    task.done(coloured);
  }

  async function next(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    // What was asked for last is what is looked at now.
    for (let task = waiting.pop(); task; task = waiting.pop()) await work(task);
    isBusy = false;
  }

  return {
    highlight(text: string, language: Language): Promise<Line[] | null> {
      if (text.length > longest_text) return Promise.resolve(null);
      return new Promise((done) => {
        waiting.push({ text, language, done });
        if (waiting.length > most_waiting) waiting.shift()?.done(null);
        void next();
      });
    },
    close: drop,
  };
}

function inPieces(lines: string[]): string[][] {
  const pieces: string[][] = [[]];
  let length = 0;
  for (const line of lines) {
    if (length > largest_piece) {
      pieces.push([]);
      length = 0;
    }
    pieces.at(-1)?.push(line);
    length += line.length + 1;
  }
  return pieces;
}
