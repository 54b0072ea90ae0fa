import { describe, expect, it } from "vitest";
import { drawDiagram } from "./diagram";
import { svgOf } from "./svg";

const flow = `flowchart TD
  A[Start] --> B{Is it "ready"?}
  B -->|yes| C(Ship it)
  B -- no --> D[Fix<br/>and retry] & E
  D -.-> B
  classDef red fill:#f00
  style A fill:url(https://evil.example)`;

describe("flowcharts", () => {
  const picture = drawDiagram(flow);
  const box = (text: string) => picture.boxes.find(({ lines }) => lines.join(" ").includes(text));

  it("have their boxes below what leads to them", () => {
    expect(picture.boxes).toHaveLength(5);
    expect(picture.lines.map(({ label }) => label)).toEqual(["", "yes", "no", "no", ""]);
    expect(box("Ship")?.y).toBeGreaterThan(box("ready")?.y ?? 0);
    expect(box("Fix")?.lines).toEqual(["Fix", "and retry"]);
    expect(picture.lines.at(-1)).toMatchObject({ dashed: true, arrow: true });
  });

  it("have no box that lies over another", () => {
    for (const [index, one] of picture.boxes.entries()) {
      for (const other of picture.boxes.slice(index + 1)) {
        const apart =
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        expect(apart, `${one.lines} and ${other.lines}`).toBe(true);
      }
    }
  });

  it("are drawn with nothing of their source but its words", () => {
    const svg = svgOf(drawDiagram('graph LR\nA["<img src=x onerror=alert(1)>"] --> B'));
    expect(svg.querySelector("img, script, a, foreignObject")).toBeNull();
    expect(svg.textContent).toContain("<img");
    expect(svg.outerHTML).not.toMatch(/style=|url\(/);
  });
});

describe("sequences", () => {
  it("have a line for each message, in order", () => {
    const { boxes, lines } = drawDiagram(
      "sequenceDiagram\n participant P as Page\n P->>Server: GET /api\n Server-->>P: 200\n P->>P: draw\n Note over P,Server: done",
    );
    expect(boxes.map((box) => box.lines.join(" "))).toEqual(["Page", "Server", "done"]);
    const said = lines.filter(({ label }) => label);
    expect(said.map(({ label }) => label)).toEqual(["GET /api", "200", "draw"]);
    expect(said.map(({ points }) => points[0]?.[1] ?? 0)).toEqual(
      said.map(({ points }) => points[0]?.[1] ?? 0).toSorted((a, b) => a - b),
    );
    expect(said[1]?.dashed).toBe(true);
  });
});

it.each([
  ["gantt\n title A", "only flowcharts"],
  ["flowchart TD\n A[open --> B", "is missing behind A"],
  ["flowchart TD\n A => B", "an arrow is expected"],
  ["flowchart TD", "empty"],
  [`flowchart TD\n${Array.from({ length: 300 }, (_, at) => `n${at}`).join("\n")}`, "too many"],
  [`flowchart TD\n${"A-->B\n".repeat(10_000)}`, "too long"],
  ["sequenceDiagram\n what is this", "a message is expected"],
])("%j is refused in plain words", (source, words) => expect(() => drawDiagram(source)).toThrow(words));

it("ends where everything leads to everything", () => {
  const ids = Array.from({ length: 18 }, (_, at) => `n${at}`).join(" & ");
  const started = performance.now();
  expect(drawDiagram(`flowchart TD\n${ids} --> ${ids}`).lines).toHaveLength(18 * 18);
  expect(performance.now() - started).toBeLessThan(5_000);
});
