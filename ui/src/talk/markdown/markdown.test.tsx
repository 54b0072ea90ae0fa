import type { JSX } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { render } from "solid-js/web";
import { describe, expect, it, vi } from "vitest";
import { append, newText, type TextStream } from "../../state/text";
import { Markdown, MarkdownText } from "./Markdown";
import { mend } from "./mend";

function drawn(view: () => JSX.Element): HTMLElement {
  const host = document.createElement("div");
  render(view, host);
  return host.firstElementChild as HTMLElement;
}
const shown = (text: string) => drawn(() => <MarkdownText text={text} />);

const frame = () => new Promise(requestAnimationFrame);
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

describe("Markdown", () => {
  it("shows headings below those of the page, lists, tables and code", () => {
    const element = shown("# Title\n\n- [x] a\n- b\n\n|a|b|\n|-|-:|\n|1|2|\n\n```rust\nlet x = 1;\n```\n");
    expect(element.querySelector("h3")?.textContent).toBe("Title");
    expect(element.querySelectorAll("li")).toHaveLength(2);
    expect(element.querySelector(".task-box.done")?.getAttribute("aria-label")).toBe("done");
    expect(element.querySelector("td.align-right")?.textContent).toBe("2");
    expect(element.querySelector("figcaption span")?.textContent).toBe("rust");
    expect(element.querySelector("pre code")?.textContent).toBe("let x = 1;");
  });

  it("shows tags as they are written, and runs nothing", () => {
    const element = shown("<img src=x onerror=alert(1)>\n\nand <b>this</b> &amp; &lt;that&gt;");
    expect(element.querySelector("img, b")).toBeNull();
    expect(element.textContent).toBe("<img src=x onerror=alert(1)>and <b>this</b> & <that>");
  });

  it("links only to where a link may lead", () => {
    const element = shown(
      "[a](https://a.example/x) [b](javascript:alert(1)) [c](data:text/html,x) ![p](https://e/x.png)",
    );
    const links = [...element.querySelectorAll("a")];
    expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://a.example/x", "https://e/x.png"]);
    expect(links.every((link) => link.rel === "noopener noreferrer" && link.target === "_blank")).toBe(true);
    expect(element.querySelector("img")).toBeNull();
    expect(element.textContent).toContain("javascript:alert(1)");
  });

  it("shows a picture only where it is an attachment of ours", () => {
    const path = "/api/sessions/01a/attachments/02b";
    expect(shown(`![p](${path})`).querySelector("img")?.getAttribute("src")).toBe(path);
  });

  it("hides no character", () => {
    const element = shown("a\u202eb `c\u200bd`\n\n```\ne\u2066f\n```");
    expect(element.querySelectorAll(".hidden-char")).toHaveLength(3);
  });

  it("leaves finished blocks as the nodes they are while the text grows, also at its end", async () => {
    const [state, setState] = createStore<{ text: TextStream; streaming: boolean }>({
      text: newText(1, "One **bold** word.\n\nTwo"),
      streaming: true,
    });
    const element = drawn(() => <Markdown text={state.text} streaming={state.streaming} />);
    const [first, second] = element.children;
    const words = second?.firstChild;
    for (const piece of [" and", " more\n\n", "```js\nlet a", " = 1;\n", "```\n\nEnd"]) {
      setState(produce((draft) => append(draft.text, piece)));
      await frame();
    }
    setState("streaming", false);
    await soon(() => expect(element.lastElementChild?.textContent).toBe("End"));
    expect(element.children[0]).toBe(first);
    expect(element.children[1]).toBe(second);
    expect(element.children[1]?.firstChild).toBe(words);
    expect([...element.children].map((block) => block.tagName)).toEqual(["P", "P", "FIGURE", "P"]);
    expect(element.querySelector("code")?.textContent).toBe("let a = 1;");
    expect(element.querySelector("p")?.innerHTML).toBe("One <strong>bold</strong> word.");
  });

  it("draws the same in pieces of any size as at once", async () => {
    const text =
      "# A\n\nText *with* `code`,\nmore.\n\n1. one\n2. two\n\n   three\n\n> quote\n> on\n\n| a |\n|---|\n| b |\n\n~~~\nx\n\ny\n~~~\nEnd";
    const whole = shown(text).innerHTML;
    for (const size of [1, 3, 7]) {
      const [state, setState] = createStore({ text: newText(1, "") });
      const element = drawn(() => <Markdown text={state.text} />);
      for (let from = 0; from < text.length; from += size) {
        setState(produce((draft) => append(draft.text, text.slice(from, from + size))));
        if (from % 4 === 0) await frame();
      }
      await soon(() => expect(element.innerHTML, `pieces of ${size}`).toBe(whole));
    }
  });

  it("links to the whole address of a definition that came in pieces", async () => {
    const text = "[a]: https://good.example/page\n\nSee [a].";
    const [state, setState] = createStore<{ text: TextStream; streaming: boolean }>({
      text: newText(1, ""),
      streaming: true,
    });
    const element = drawn(() => <Markdown text={state.text} streaming={state.streaming} />);
    for (const piece of [text.slice(0, 17), text.slice(17, 30), text.slice(30)]) {
      setState(produce((draft) => append(draft.text, piece)));
      await frame();
    }
    setState("streaming", false);
    await soon(() => expect(element.querySelector("a")?.getAttribute("href")).toBe("https://good.example/page"));
  });

  it("draws the end of a long text, and what is before it when asked", () => {
    const text = Array.from({ length: 2_000 }, (_, index) => `Paragraph ${index}.${" and so on".repeat(20)}\n\n`).join(
      "",
    );
    const element = shown(text);
    document.body.append(element);
    expect(element.lastElementChild?.textContent).toMatch(/^Paragraph 1999\./);
    const count = element.children.length;
    expect(count).toBeLessThan(1_000);
    const first = element.children[1];
    element.querySelector("button")?.click();
    expect(element.children.length).toBeGreaterThan(count);
    expect(first?.previousElementSibling?.textContent).toMatch(/^Paragraph \d+\./);
    element.remove();
  });

  it("goes on in the code block that a long text was cut in", () => {
    const element = shown(`\`\`\`\n${"some line of output\n".repeat(20_000)}\`\`\`\n\nEnd`);
    expect(element.lastElementChild?.textContent).toBe("End");
    expect(element.querySelectorAll("figure").length).toBeGreaterThan(1);
    expect(element.querySelectorAll("p")).toHaveLength(1);
  });
});

describe("mend", () => {
  const cases: [string, string][] = [
    ["a **bo", "a **bo**"],
    ["a **", "a "],
    ["a `co", "a `co`"],
    ["see [the page](https://exa", "see the page"],
    ["see [the pa", "see the pa"],
    ["done **x** and", "done **x** and"],
  ];
  it.each(cases)("%s", (open, closed) => expect(mend(open)).toBe(closed));
});
