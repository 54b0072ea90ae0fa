import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { filesApi } from "../api/files";
import { watchPaths } from "./chips";

let root: HTMLElement;
let stop = () => {};
const asked: string[] = [];

beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  asked.length = 0;
  vi.spyOn(filesApi, "viewable").mockImplementation(async (_, paths) => {
    asked.push(...paths);
    return paths.filter((path) => path.startsWith("src/") || path === "/work/src/a.rs");
  });
});
afterEach(() => {
  stop();
  root.remove();
  vi.restoreAllMocks();
});

const draw = (html: string) => {
  root.innerHTML = html;
  stop = watchPaths(root, "s1", (path) => path.replace("/work/", ""));
};
const links = () => [...root.querySelectorAll<HTMLAnchorElement>("a.file-chip")];

describe("paths in the conversation", () => {
  it("become links where there is such a file, and only there", async () => {
    draw('<div class="markdown"><p>See src/lib.rs:3 or <code>src/b.rs</code> and <code>gone.rs</code>.</p></div>');
    await vi.waitFor(() => expect(links()).toHaveLength(2));
    expect(links().map((link) => link.getAttribute("href"))).toEqual([
      "#/sessions/s1/files/src/lib.rs:3",
      "#/sessions/s1/files/src/b.rs",
    ]);
    expect(root.textContent).toBe("See src/lib.rs:3 or src/b.rs and gone.rs.");
    expect(links()[0]?.title).toBe("Open src/lib.rs:3");
  });

  it("are left alone in code, in links, and at the end of a text that grows", async () => {
    draw(
      '<div class="markdown"><pre><code>src/a.rs</code></pre></div><div class="markdown"><p><a href="https://x.y">src/a.rs</a></p></div>' +
        '<div class="markdown" data-open><p>src/first.rs</p><p>src/last.rs</p></div>',
    );
    await vi.waitFor(() => expect(links()).toHaveLength(1));
    expect(links()[0]?.textContent).toBe("src/first.rs");
    expect(asked).toEqual(["src/first.rs"]);
    root.querySelector("[data-open]")?.removeAttribute("data-open");
    await vi.waitFor(() => expect(links()).toHaveLength(2));
  });

  it("come back at once where the text is drawn anew", async () => {
    draw('<div class="markdown"><p><code>src/a.rs</code></p></div>');
    await vi.waitFor(() => expect(links()).toHaveLength(1));
    const block = root.querySelector("p") as HTMLElement;
    block.innerHTML = "<code>src/a.rs</code>";
    await Promise.resolve();
    expect(links()).toHaveLength(1);
    expect(asked).toEqual(["src/a.rs"]);
  });

  it("get their address where others have drawn them, without the work directory", async () => {
    draw('<ul><li><a data-file="/work/src/a.rs">/work/src/a.rs</a></li></ul>');
    await vi.waitFor(() => expect(links()).toHaveLength(1));
    expect(links()[0]?.getAttribute("href")).toBe("#/sessions/s1/files/src/a.rs");
    links()[0]?.setAttribute("data-file", "gone.rs");
    await vi.waitFor(() => expect(links()).toHaveLength(0));
    root.querySelector("a")?.setAttribute("data-file", "src/b.rs:4");
    await vi.waitFor(() => expect(links()[0]?.getAttribute("href")).toBe("#/sessions/s1/files/src/b.rs:4"));
  });
});
