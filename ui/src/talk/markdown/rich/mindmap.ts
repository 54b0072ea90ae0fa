// Mind maps, as Mermaid writes them: what is further in belongs to what is above it.

import { GraphReader } from "./graphReader";
import { arranged } from "./layers";
import { most_nesting, NotDrawn, type Picture, type Shape, sized, wrapped } from "./picture";

const shapes: [written: RegExp, shape: Shape][] = [
  [/^[^()[\]{}]*\(\((.*)\)\)$/s, "circle"],
  [/^[^()[\]{}]*\)\)(.*)\(\($/s, "box"],
  [/^[^()[\]{}]*\)(.*)\($/s, "round"],
  [/^[^()[\]{}]*\{\{(.*)\}\}$/s, "hexagon"],
  [/^[^()[\]{}]*\[(.*)\]$/s, "box"],
  [/^[^()[\]{}]*\((.*)\)$/s, "round"],
];

export function mindmap(lines: string[]): Picture {
  return new MindReader().read(lines);
}

class MindReader extends GraphReader {
  read(lines: string[]): Picture {
    this.graph.direction = "LR";
    const above: { indent: number; id: string }[] = [];
    for (const line of lines) {
      const text = line.trim().replace(/:::.*$/, "");
      if (text === "" || /^::icon\(/.test(line.trim())) continue;
      const indent = line.length - line.trimStart().length;
      while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= indent) above.pop();
      const from = above.at(-1)?.id;
      if (from === undefined && this.graph.boxes.size > 0) throw new NotDrawn("it has more than one root");
      if (above.length > 2 * most_nesting) throw new NotDrawn("it is nested too deeply");
      const id = `node ${this.graph.boxes.size}`;
      const found = shapes.find(([written]) => written.test(text));
      const label = found ? (found[0].exec(text)?.[1] ?? "") : text;
      this.put(id, () => sized(wrapped(label), found?.[1] ?? "round"));
      if (from !== undefined) this.join({ from, to: id, label: "", dashed: false, ends: ["none", "none"] });
      above.push({ indent, id });
    }
    return arranged(this.drawn());
  }
}
