import { createStore, produce } from "solid-js/store";
import { render } from "solid-js/web";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { append, newText } from "../../../state/text";
import { Markdown, MarkdownText } from "../Markdown";
import { loadRich } from "../rich";
import { harmless } from "./math";

beforeAll(loadRich);

function shown(text: string): HTMLElement {
  const host = document.createElement("div");
  render(() => <MarkdownText text={text} />, host);
  return host.firstElementChild as HTMLElement;
}
const formulas = (text: string) => [...shown(text).querySelectorAll(".math")].map((element) => element.textContent);

describe("formulas", () => {
  it("are read between dollars and between brackets", () => {
    expect(formulas("Let $a^2 + b_1$ be, \\(x\\) too.\n\n$$\n\\frac{1}{2}\n$$\n\nand\n\n\\[\ny\n\\]\n\nend")).toEqual([
      "$a^2 + b_1$",
      "\\(x\\)",
      "$$\n\\frac{1}{2}\n$$",
      "\\[\ny\n\\]",
    ]);
  });

  it.each([
    "It costs $5 and $10.",
    "US$5 or EU$6",
    "$5-$10",
    "cd $HOME/$USER and $PATH:$LD",
    "`$a$` and\n\n```sh\necho $a$b $c$\n```",
    "a $ b $ c",
    "\\$a\\$",
    "$$ alone",
  ])("are not seen in %j", (text) => expect(formulas(text)).toEqual([]));

  it("stay as they are written where nothing can draw them", () => {
    expect(shown("a $x$ b").textContent).toBe("a $x$ b");
  });

  it("bring only what is harmless onto the page", () => {
    const markup =
      '<math onclick="x()"><mi href="javascript:x()" style="color:red;background:url(//e)">x</mi>' +
      "<script>x()</script><img src=x onerror=x()><annotation>y</annotation></math>";
    const math = harmless(markup);
    expect(math?.outerHTML).not.toMatch(/script|onclick|onerror|href|url|img/);
    expect(math?.querySelector("mi")?.textContent).toBe("x");
  });

  it("are refused where they are deeper or longer than anybody writes", () => {
    expect(harmless(`<math>${"<mrow>".repeat(100)}x${"</mrow>".repeat(100)}</math>`)).toBeNull();
    expect(harmless(`<math>${"<mi>x</mi>".repeat(5_000)}</math>`)).toBeNull();
  });
});

describe("footnotes", () => {
  const text = "One[^1] and two[^note], [^none].\n\n[^1]: The first\n    goes on.\n[^note]: `two`\n";

  it("lead from their marks to their texts", () => {
    const element = shown(text);
    document.body.append(element);
    const marks = [...element.querySelectorAll<HTMLElement>(".footnote-ref button")];
    expect(marks.map((mark) => mark.textContent)).toEqual(["1", "note"]);
    expect(element.querySelector("p")?.textContent).toBe("One1 and twonote, [^none].");
    const notes = [...element.querySelectorAll(".footnote")];
    expect(notes.map((note) => note.textContent)).toEqual(["1The first\ngoes on.", "notetwo"]);
    (notes[1] as HTMLElement).scrollIntoView = () => {};
    marks[1]?.click();
    expect(document.activeElement).toBe(notes[1]);
    element.remove();
  });

  it("come out the same in pieces of any size", async () => {
    const whole = shown(`${text}\n$$x$$\n\nEnd $a$.`).innerHTML;
    for (const size of [1, 5]) {
      const [state, setState] = createStore({ text: newText(1, ""), streaming: true });
      const host = document.createElement("div");
      render(() => <Markdown text={state.text} streaming={state.streaming} />, host);
      const all = `${text}\n$$x$$\n\nEnd $a$.`;
      for (let from = 0; from < all.length; from += size) {
        setState(produce((draft) => append(draft.text, all.slice(from, from + size))));
        if (from % 4 === 0) await new Promise(requestAnimationFrame);
      }
      setState("streaming", false);
      await vi.waitFor(() => expect(host.firstElementChild?.innerHTML).toBe(whole), { timeout: 20_000, interval: 10 });
    }
  });
});
