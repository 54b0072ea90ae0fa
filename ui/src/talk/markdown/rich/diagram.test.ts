import { describe, expect, it } from "vitest";
import { mutated, Random } from "../fuzz/generate";
import { drawDiagram } from "./diagram";
import { NotDrawn, type Picture } from "./picture";
import { svgOf } from "./svg";

const flow = `flowchart TD
  A[Start] --> B{Is it "ready"?}
  B -->|yes| C(Ship it)
  B -- no --> D[Fix<br/>and retry] & E
  D -.-> B
  classDef red fill:#f00
  style A fill:url(https://evil.example)`;

const box = (picture: Picture, text: string) => picture.boxes.find(({ lines }) => lines.join(" ").includes(text));
const labels = (picture: Picture) => picture.lines.flatMap(({ label }) => (label === "" ? [] : [label]));
const boxes = (picture: Picture) => picture.boxes.map(({ lines }) => lines.join(" "));

function expectApart({ boxes }: Picture): void {
  for (const [index, one] of boxes.entries()) {
    for (const other of boxes.slice(index + 1)) {
      const apart =
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y;
      expect(apart, `${one.lines} and ${other.lines}`).toBe(true);
    }
  }
}

describe("flowcharts", () => {
  const picture = drawDiagram(flow);

  it("have their boxes below what leads to them", () => {
    expect(picture.boxes).toHaveLength(5);
    expect(picture.lines.map(({ label }) => label)).toEqual(["", "yes", "no", "no", ""]);
    expect(box(picture, "Ship")?.y).toBeGreaterThan(box(picture, "ready")?.y ?? 0);
    expect(box(picture, "Fix")?.lines).toEqual(["Fix", "and retry"]);
    expect(picture.lines.at(-1)).toMatchObject({ dashed: true, ends: ["none", "arrow"] });
    expectApart(picture);
  });

  it("are drawn with nothing of their source but its words", () => {
    const svg = svgOf(drawDiagram('graph LR\nA["<img src=x onerror=alert(1)>"] --> B'));
    expect(svg.querySelector("img, script, a, foreignObject")).toBeNull();
    expect(svg.textContent).toContain("<img");
    expect(svg.outerHTML).not.toMatch(/style=|url\(/);
  });

  it("keep what belongs together in a frame", () => {
    const grouped = drawDiagram(
      'graph TB\n out --> a\n subgraph one["The first"]\n  direction LR\n  a --> b\n  subgraph two\n   c\n  end\n end\n one --> last',
    );
    const [one, two] = ["The first", "two"].map((label) => grouped.frames?.find((frame) => frame.label === label));
    const isIn = (text: string, frame = one) => {
      const inner = box(grouped, text);
      if (!inner || !frame) return null;
      return (
        inner.x >= frame.x &&
        inner.y >= frame.y &&
        inner.x + inner.width <= frame.x + frame.width &&
        inner.y + inner.height <= frame.y + frame.height
      );
    };
    expect(["a", "b", "c", "out", "last"].map((text) => isIn(text))).toEqual([true, true, true, false, false]);
    expect(isIn("c", two)).toBe(true);
    expect(grouped.lines).toHaveLength(3);
    expectApart(grouped);
  });

  it.each([
    ["A --> B", ["none", "arrow"]],
    ["A --- B", ["none", "none"]],
    ["A -----> B", ["none", "arrow"]],
    ["A <--> B", ["arrow", "arrow"]],
    ["A --o B", ["none", "circle"]],
    ["A x--x B", ["cross", "cross"]],
    ["A -. maybe .-> B", ["none", "arrow"]],
    ["A == surely ==> B", ["none", "arrow"]],
    ["A e1@--> B", ["none", "arrow"]],
    ["A-->B", ["none", "arrow"]],
  ])("know the arrow of %s", (line, ends) => {
    const { lines } = drawDiagram(`graph TD\n${line}`);
    expect(lines.map((one) => one.ends)).toEqual([ends]);
  });

  it.each([
    ['A["a; b [c] --> (d)"] --> B', ["a; b [c] --> (d)", "B"]],
    ["A[#quot;x#quot; &lt; #65;] --> B", ['"x" < A', "B"]],
    ["A[[Sub]] --> B[(Data)]; B --> C[/In/]", ["Sub", "Data", "In"]],
    ['A@{ shape: cyl, label: "Store" } --> B', ["Store", "B"]],
    ["classroom --> style1", ["classroom", "style1"]],
    ["my-node --> other-node:::red", ["my-node", "other-node"]],
    ["A ~~~ B", ["A", "B"]],
    ["A[hidden #8238; stays]", ["hidden #8238; stays"]],
  ])("read %s", (text, found) => expect(boxes(drawDiagram(`graph TD\n${text}`))).toEqual(found));

  it("leave out what only says how they look", () => {
    const styled = drawDiagram(
      '---\ntitle: A plan\nconfig:\n  look: neo\n---\n%%{init: {"theme":\n"dark"}}%%\nflowchart LR\n%% remark\nA --> B\nlinkStyle 0 stroke:red\nclick A call x()\naccTitle: y',
    );
    expect(boxes(styled)).toEqual(["A", "B"]);
    expect(styled).toMatchObject({ title: "A plan", kind: "flowchart" });
    expect(boxes(drawDiagram("graph TD; A-->B; B-->C"))).toEqual(["A", "B", "C"]);
    expect(boxes(drawDiagram("flowchart\nA --> B"))).toEqual(["A", "B"]);
  });
});

describe("sequences", () => {
  it("have a line for each message, in order", () => {
    const { boxes, lines } = drawDiagram(
      "sequenceDiagram\n participant P as Page\n P->>Server: GET /api\n Server-->>P: 200\n P->>P: draw\n Note over P,Server: done",
    );
    expect(boxes.map((one) => one.lines.join(" "))).toEqual(["Page", "Server", "done"]);
    const said = lines.filter(({ label }) => label);
    expect(said.map(({ label }) => label)).toEqual(["GET /api", "200", "draw"]);
    expect(said.map(({ points }) => points[0]?.[1] ?? 0)).toEqual(
      said.map(({ points }) => points[0]?.[1] ?? 0).toSorted((a, b) => a - b),
    );
    expect(said[1]?.dashed).toBe(true);
  });

  it("show under which condition something is said, and who works", () => {
    const picture = drawDiagram(
      "sequenceDiagram\nautonumber\nA->>+B: go\nalt fast\nB-->>A: yes\nelse slow\nloop ever\nB-)A: wait\nend\nend\ndeactivate B\nWeb App-xB: lost",
    );
    expect(labels(picture)).toEqual(["1. go", "2. yes", "3. wait", "4. lost"]);
    expect(picture.frames?.map(({ label }) => label)).toEqual(["loop [ever]", "alt [fast]"]);
    expect(picture.words?.map(({ text }) => text)).toEqual(["[slow]"]);
    expect(picture.boxes.filter(({ shape }) => shape === "work")).toHaveLength(1);
    expect(boxes(picture)).toContain("Web App");
    const [inner, outer] = picture.frames ?? [];
    expect(inner?.y).toBeGreaterThan(outer?.y ?? 0);
    expect((inner?.y ?? 0) + (inner?.height ?? 0)).toBeLessThan((outer?.y ?? 0) + (outer?.height ?? 0));
  });
});

it("states have a beginning and an end of their own in each group", () => {
  const picture = drawDiagram(
    'stateDiagram-v2\n[*] --> Idle\nIdle --> Busy : start now\nstate Busy {\n[*] --> Hot\nHot --> [*]\n}\nBusy --> [*]\nstate "Long words" as L\nIdle --> L\nnote right of L : Look\nnote left of Idle\nTwo\nlines\nend note\nIdle : Waits',
  );
  expect(picture.boxes.filter(({ shape }) => shape === "start")).toHaveLength(2);
  expect(picture.boxes.filter(({ shape }) => shape === "end")).toHaveLength(2);
  expect(boxes(picture)).toEqual(expect.arrayContaining(["Waits", "Hot", "Long words", "Look", "Two lines"]));
  expect(picture.frames?.map(({ label }) => label)).toEqual(["Busy"]);
  expect(labels(picture)).toEqual(["start now"]);
  expectApart(picture);
});

it("classes have their members below them, and lines that say how they are related", () => {
  const picture = drawDiagram(
    'classDiagram\nclass Animal {\n<<abstract>>\n+String name\n+speak() String\n}\nAnimal <|-- Duck\nZoo "1" *-- "0..*" Animal : has\nRepo~T~ ..> Animal\nDuck : +swim()\nnote for Duck "quacks"\nclass Empty',
  );
  expect(box(picture, "Animal")).toMatchObject({
    lines: ["«abstract»", "Animal", "+String name", "+speak() String"],
    head: 2,
    rules: [2, 3],
  });
  expect(boxes(picture)).toEqual(expect.arrayContaining(["Duck +swim()", "Repo<T>", "quacks", "Empty", "Zoo"]));
  expect(picture.lines.map(({ ends }) => ends)).toEqual([
    ["triangle", "none"],
    ["full", "none"],
    ["none", "arrow"],
    ["none", "none"],
  ]);
  expect(picture.lines[1]).toMatchObject({ label: "has", counts: ["1", "0..*"] });
  expectApart(picture);
});

it("entities have their attributes below them, and how many of each there are", () => {
  const picture = drawDiagram(
    'erDiagram\nCUSTOMER ||--o{ ORDER : places\nORDER }|..|| "LINE ITEM" : "is of"\nCUSTOMER {\nint id PK\nstring name "in full"\n}\np[Person]',
  );
  expect(box(picture, "CUSTOMER")?.lines).toEqual(["CUSTOMER", "id  int  PK", "name  string  “in full”"]);
  expect(picture.lines.map(({ counts, dashed, label }) => [counts, dashed, label])).toEqual([
    [["1", "0..*"], false, "places"],
    [["1..*", "1"], true, "is of"],
  ]);
  expect(boxes(picture)).toEqual(expect.arrayContaining(["LINE ITEM", "Person"]));
});

it("pies have a part for each value, and say how large it is", () => {
  const picture = drawDiagram('pie showData title Pets\n"Dogs" : 30\n"Cats" : 10\n "Fish": 0.5');
  const sectors = picture.areas?.flatMap(({ sector }) => (sector ? [sector] : [])) ?? [];
  expect(sectors).toHaveLength(3);
  expect(sectors.at(-1)?.[1]).toBeCloseTo(1);
  expect(picture.title).toBe("Pets");
  expect(picture.words?.map(({ text }) => text)).toContain("Cats · 10 (25 %)");
  expect(svgOf(drawDiagram('pie\n"All" : 5')).querySelector("circle")).not.toBeNull();
});

it("mind maps branch from their root", () => {
  const picture = drawDiagram(
    "mindmap\n  root((Plan))\n    Build\n      [Test it]\n      ::icon(fa fa-x)\n    Ship:::big",
  );
  expect(boxes(picture)).toEqual(["Plan", "Build", "Test it", "Ship"]);
  expect(picture.lines).toHaveLength(3);
  expect(box(picture, "Test it")?.x).toBeGreaterThan(box(picture, "Build")?.x ?? 0);
  expectApart(picture);
});

it("Gantt charts have a bar for each task, from its beginning to its end", () => {
  const picture = drawDiagram(
    "gantt\ntitle Plan\ndateFormat YYYY-MM-DD\nsection Design\nSketch :done, a1, 2026-01-01, 10d\nReview :after a1, 5d\nsection Build\nCode :crit, 2026-01-06, 2026-01-21\nRest : 5d\nDone :milestone, after a1, 0d",
  );
  expect(picture.areas?.map(({ x, width }) => [Math.round(x), Math.round(width)])).toEqual([
    [0, 208],
    [208, 104],
    [104, 312],
    [416, 104],
    [208, 6],
  ]);
  const words = picture.words?.map(({ text }) => text);
  expect(words).toEqual(expect.arrayContaining(["Design", "Sketch", "10 d · done", "15 d · critical", "2026-01-26"]));
});

it("timelines have what happened below when it happened", () => {
  const picture = drawDiagram(
    "timeline\ntitle Years\nsection Early\n2002 : One\n2004 : Two : Three\n     : Four\nsection Late\n2006 : Five",
  );
  expect(boxes(picture)).toEqual(["2002", "One", "2004", "Two", "Three", "Four", "2006", "Five"]);
  expect(picture.frames?.map(({ label }) => label)).toEqual(["Early", "Late"]);
  expect(box(picture, "Four")?.x).toBe(box(picture, "2004")?.x);
  expectApart(picture);
});

const deep = Array.from({ length: 1_000 }, (_, at) => `subgraph s${at}`).join("\n");

it.each([
  ["gitGraph\n commit", "“gitGraph” are not drawn"],
  ["<b>", "what kind of diagram"],
  ["flowchart TD\n A[open --> B", "is missing behind A"],
  ["flowchart TD\n A => B", "an arrow is expected"],
  ["flowchart TD", "empty"],
  [`flowchart TD\n${Array.from({ length: 300 }, (_, at) => `n${at}`).join("\n")}`, "too many"],
  [`flowchart TD\n${"A-->B\n".repeat(10_000)}`, "too long"],
  [`flowchart TD\n${Array.from({ length: 10_000 }, (_, at) => `n${at}-->n${at + 1}`).join("\n")}`, "too long"],
  [`flowchart TD\n${"A-->B\n".repeat(1_000)}`, "too many"],
  [`flowchart TD\n${deep}\nA`, "too"],
  [`sequenceDiagram\n${"alt x\n".repeat(100)}A->>B: c`, "nested too deeply"],
  [
    `stateDiagram-v2\n${Array.from({ length: 50 }, (_, at) => `state s${at} {`).join("\n")}\na --> b`,
    "nested too deeply",
  ],
  [`classDiagram\n${Array.from({ length: 300 }, (_, at) => `class c${at}`).join("\n")}`, "too many"],
  ["classDiagram\n class A\n ~~~", "a class is expected"],
  ["erDiagram\n A !! B", "an entity is expected"],
  ["stateDiagram-v2\n a b c", "a state is expected"],
  ["pie\n Dogs 3", "a part is expected"],
  ["pie title none", "empty"],
  [`pie\n${Array.from({ length: 40 }, (_, at) => `"p${at}" : 1`).join("\n")}`, "too many"],
  ["gantt\n a : b, c, d", "when “a” begins"],
  ["gantt\n a : 2026-01-01, soon", "how long “a” takes"],
  ["gantt\n dateFormat DD/MM\n a : 1d", "are not read"],
  ["mindmap\n a\n b", "more than one root"],
  [`mindmap\n${Array.from({ length: 60 }, (_, at) => `${" ".repeat(at)}x`).join("\n")}`, "nested too deeply"],
  [`timeline\n${Array.from({ length: 60 }, (_, at) => `${at} : x`).join("\n")}`, "too many"],
  ["sequenceDiagram\n what is this", "a message is expected"],
])("%.40j is refused in plain words", (source, words) => expect(() => drawDiagram(source)).toThrow(words));

it("ends where everything leads to everything", () => {
  const ids = Array.from({ length: 18 }, (_, at) => `n${at}`).join(" & ");
  const started = performance.now();
  expect(drawDiagram(`flowchart TD\n${ids} --> ${ids}`).lines).toHaveLength(18 * 18);
  const chain = Array.from({ length: 199 }, (_, at) => `a${at} --> a${at + 1}\na0 --> a${at + 1}`).join("\n");
  expect(drawDiagram(`flowchart TD\n${chain}`).lines).toHaveLength(2 * 199);
  expect(performance.now() - started).toBeLessThan(5_000);
});

describe("hostile diagrams", () => {
  const seeds = [
    flow,
    "graph LR\nsubgraph a\nx --> y\nend\na --> x\nsubgraph x\nend\nx --> x",
    "sequenceDiagram\nalt a\nA->>+B: x\nelse b\nend\nNote left of A: n\nB-->>-A: y",
    "stateDiagram-v2\n[*] --> a\nstate a {\nb --> [*]\n}\nnote right of a : x",
    'classDiagram\nclass A~T~ {\n+x()\n}\nA "1" --> "*" B : c\nnamespace N {\nclass C\n}',
    'erDiagram\nA ||--o{ B : c\nA {\nint x PK "y"\n}',
    'pie title A\n"x" : 3\n"y" : 4',
    "gantt\nsection S\na :done, b, 2026-01-01, 3d\nc :after b, 2d",
    "mindmap\n  root((a))\n    b\n      c[d]",
    "timeline\nsection S\n2001 : a : b\n : c",
  ];
  const words = [
    "-->",
    "[",
    "]",
    "{",
    "}",
    '"',
    "\n",
    "subgraph ",
    "end\n",
    "|",
    ":",
    ";",
    "&",
    "~",
    "<script>",
    "&#60;",
  ];
  const shapes = new Set("svg rect path polygon polyline circle ellipse text".split(" "));
  const attributes = new Set("viewBox width height class aria-hidden x y rx ry cx cy r d points".split(" "));

  it("are drawn safely, or refused in words", () => {
    const random = new Random(21);
    let drawn = 0;
    for (let cases = 0; cases < 3_000; cases++) {
      const source = mutated(random, seeds, words);
      let picture: Picture;
      try {
        picture = drawDiagram(source);
      } catch (error) {
        if (!(error instanceof NotDrawn)) expect.fail(`${JSON.stringify(source)}: ${error}`);
        continue;
      }
      drawn += 1;
      const svg = svgOf(picture);
      for (const element of [svg, ...svg.querySelectorAll("*")]) {
        expect(shapes, JSON.stringify(source)).toContain(element.tagName);
        for (const { name, value } of element.attributes) {
          expect(attributes, JSON.stringify(source)).toContain(name);
          if (name !== "class") expect(value, JSON.stringify(source)).not.toMatch(/NaN|Infinity|undefined/);
        }
      }
    }
    expect(drawn, "most mutations can still be drawn").toBeGreaterThan(200);
  });
});
