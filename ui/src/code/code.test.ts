import hljs from "highlight.js/lib/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { colour } from "./highlight";
import { grammars, type Language } from "./languages";
import { languageNamed, languageOf } from "./names";
import { pieces } from "./pieces";
import { createPool, deadline_ms, type WorkerLike } from "./pool";
import { linesOf, runsOf } from "./runs";
import type { Job, Reply } from "./worker";

async function run(text: string, language: Language): Promise<Uint32Array> {
  if (!hljs.getLanguage(language)) hljs.registerLanguage(language, (await grammars[language]()).default);
  const runs = runsOf(hljs.highlight(text, { language, ignoreIllegals: true }).value, text);
  if (!runs) throw new Error("the colours do not fit the text");
  return runs;
}

/** A worker that hangs on every text with `hang` in it. */
class FakeWorker implements WorkerLike {
  onmessage: WorkerLike["onmessage"] = null;
  onerror: WorkerLike["onerror"] = null;
  ended = false;
  static made: FakeWorker[] = [];
  static jobs: string[] = [];
  constructor() {
    FakeWorker.made.push(this);
  }
  async postMessage({ id, text, language }: Job) {
    FakeWorker.jobs.push(text);
    this.reply({ id, started: true });
    if (text.includes("hang")) return;
    const runs = await run(text, language);
    this.reply({ id, runs });
  }
  terminate() {
    this.ended = true;
  }
  private reply(data: Reply) {
    if (!this.ended) this.onmessage?.(new MessageEvent("message", { data }));
  }
}

const classesOf = (lines: { class: string | null; text: string }[][] | null) =>
  lines?.map((line) => line.flatMap((token) => (token.class ? [`${token.class}:${token.text}`] : [])));
const textOf = (lines: { text: string }[][] | null) =>
  lines?.map((line) => line.map(({ text }) => text).join("")).join("\n");

beforeEach(() => {
  FakeWorker.made = [];
  FakeWorker.jobs = [];
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("names", () => {
  it.each([
    ["src/main.rs", "rust"],
    ["a/b.test.tsx", "typescript"],
    ["Dockerfile", "dockerfile"],
    ["Cargo.toml", "ini"],
    ["page.html", "xml"],
    ["notes", null],
    ["x.constructor", null],
    [".gitignore", null],
  ])("%s is %s", (path, language) => expect(languageOf(path)).toBe(language));

  it("every grammar is known by its own name", () => {
    for (const name of Object.keys(grammars)) expect(languageNamed(name)).toBe(name);
    expect(languageNamed(" TS ")).toBe("typescript");
    expect(languageNamed("toString")).toBeNull();
  });
});

describe("tokens", () => {
  it("have few classes, by lines, and the text stays what it was", async () => {
    const text = 'fn main() {\n    // say "it"\n    print("a & <b>", 12);\n}\n';
    const lines = linesOf(text, await run(text, "rust"));
    expect(textOf(lines)).toBe(text);
    expect(classesOf(lines)).toEqual([
      ["key:fn", "fn:main"],
      ['rem:// say "it"'],
      ["fn:print", 'str:"a & <b>"', "num:12"],
      [],
      [],
    ]);
  });

  it("a comment over several lines is one in each of them", async () => {
    const text = "/* a\nb */ let x";
    expect(classesOf(linesOf(text, await run(text, "typescript")))).toEqual([["rem:/* a"], ["rem:b */", "key:let"]]);
  });

  it.each(Object.keys(grammars) as Language[])("%s leaves any text as it is", async (language) => {
    const text = "a<b> && 'c' \"d\" /e/ #{f} #g //h /*i*/ @j\r\n\tk: l = {m: [1, 0x2]}; \u{1f980} é </p> `n`\n";
    expect(textOf(linesOf(text, await run(text, language)))).toBe(text);
  });

  it("what is not the library's HTML has no colours", () => {
    expect(runsOf("<b>x</b>", "x")).toBeNull();
    expect(runsOf("&nbsp;", " ")).toBeNull();
    expect(runsOf("longer", "long")).toBeNull();
  });
});

describe("the pool", () => {
  it("a line that hangs it costs that line its colours, and no other", async () => {
    vi.useFakeTimers();
    const pool = createPool(() => new FakeWorker());
    const lines = Array.from({ length: 40 }, (_, at) => (at === 17 ? "let hang = 1" : `let x${at} = ${at}`));
    const done = pool.highlight(lines.join("\n"), "typescript");
    for (let turn = 0; turn < 60; turn++) await vi.advanceTimersByTimeAsync(deadline_ms(lines.join("\n")));
    const found = await done;
    expect(textOf(found)).toBe(lines.join("\n"));
    expect(classesOf(found)?.flatMap((line, at) => (line.length === 0 ? [at] : []))).toEqual([17]);
    expect(FakeWorker.made.slice(0, -1).every((worker) => worker.ended)).toBe(true);
  });

  it("a text of nothing but such lines ends, too", async () => {
    vi.useFakeTimers();
    const pool = createPool(() => new FakeWorker());
    const text = Array.from({ length: 500 }, () => "hang").join("\n");
    const done = pool.highlight(text, "typescript");
    for (let turn = 0; turn < 100; turn++) await vi.advanceTimersByTimeAsync(deadline_ms(text));
    expect(textOf(await done)).toBe(text);
    expect(FakeWorker.made.length).toBeLessThan(40);
  });

  it("a line that is too long to be read is not given to it", async () => {
    const pool = createPool(() => new FakeWorker());
    const long = "let a=1;".repeat(100_000);
    const found = await pool.highlight(`let a = 1\n${long}\nlet b = 2`, "typescript");
    expect(classesOf(found)?.map((line) => line.length)).toEqual([2, 0, 2]);
    expect(found?.[1]?.[0]?.text).toBe(long);
    expect(FakeWorker.jobs).toEqual(["let a = 1\n\nlet b = 2"]);
  });

  it("what was asked for last comes first, and too much of it is dropped", async () => {
    const pool = createPool(() => new FakeWorker());
    const all = Array.from({ length: 300 }, (_, at) => pool.highlight(`let x${at} = 1`, "typescript"));
    const found = await Promise.all(all);
    expect(FakeWorker.jobs.slice(0, 3)).toEqual(["let x0 = 1", "let x299 = 1", "let x298 = 1"]);
    expect(found.filter((lines) => lines === null).length).toBe(300 - 257);
  });
});

describe("on the page", () => {
  beforeEach(() => vi.stubGlobal("Worker", FakeWorker));

  it("colours an element in place, around what stands in it", async () => {
    const element = document.createElement("code");
    element.append(
      'let a = "x',
      Object.assign(document.createElement("mark"), { textContent: "⟨U+202E⟩" }),
      'y"; // z',
    );
    const text = element.textContent;
    await colour(element, "typescript");
    expect(element.textContent).toBe(text);
    expect(element.querySelector("mark")?.textContent).toBe("⟨U+202E⟩");
    expect(element.querySelector("mark .c-str")).not.toBeNull();
    expect([...element.querySelectorAll(".c-key, .c-rem")].map((span) => span.textContent)).toEqual(["let", "// z"]);
  });

  it("leaves alone what has changed meanwhile", async () => {
    const element = document.createElement("code");
    element.textContent = "let a = 1";
    const painted = colour(element, "typescript");
    element.textContent = "let a = 12";
    await painted;
    expect(element.children.length).toBe(0);
  });

  it("cuts the tokens of a line where a changed word begins and ends", () => {
    const line = [
      { class: "key" as const, text: "let" },
      { class: null, text: " total = 1" },
    ];
    expect(
      pieces("let total = 1", line, [
        [4, 9],
        [12, 13],
      ]),
    ).toEqual([
      { text: "let", class: "key", marked: false },
      { text: " ", class: null, marked: false },
      { text: "total", class: null, marked: true },
      { text: " = ", class: null, marked: false },
      { text: "1", class: null, marked: true },
    ]);
    expect(pieces("plain", null)).toEqual([{ text: "plain", class: null, marked: false }]);
  });
});
