// The part of Mermaid that answers hold most, read into plain data.

import { classes } from "./classes";
import { entities } from "./entities";
import { flowchart } from "./flowchart";
import { gantt } from "./gantt";
import { mindmap } from "./mindmap";
import { NotDrawn, type Picture, titled } from "./picture";
import { pie } from "./pie";
import { sequence } from "./sequence";
import { longest_source, readSource, statementsOf } from "./source";
import { states } from "./states";
import { timeline } from "./timeline";

type Draw = (lines: string[], first: string) => Picture;

const kinds: [begin: RegExp, kind: string, draw: Draw][] = [
  [/^(?:flowchart|graph)(?:-\w+)?\b/i, "flowchart", drawFlowchart],
  [/^stateDiagram(?:-v2)?\b/, "state diagram", states],
  [/^classDiagram(?:-v2)?\b/, "class diagram", classes],
  [/^erDiagram\b/, "entity-relationship diagram", entities],
  [/^pie\b/, "pie chart", pie],
  [/^gantt\b/, "Gantt chart", gantt],
  [/^mindmap\b/, "mind map", mindmap],
  [/^timeline\b/, "timeline", timeline],
  [/^sequenceDiagram\b/, "sequence diagram", (lines) => sequence(lines.map((line) => line.trim()))],
];

export function drawDiagram(source: string): Picture {
  if (source.length > longest_source) throw new NotDrawn("it is too long");
  const { lines, title } = readSource(source);
  const [first = "", ...rest] = lines;
  const found = kinds.find(([begin]) => begin.test(first.trim()));
  if (!found) throw new NotDrawn(unknown(first.trim()));
  const [, kind, draw] = found;
  const picture = draw(rest, first.trim());
  return titled({ ...picture, kind, title: picture.title || title });
}

function unknown(first: string): string {
  const name = /^[A-Za-z][\w-]{0,30}/.exec(first)?.[0];
  return name ? `diagrams of the kind “${name}” are not drawn` : "it does not say what kind of diagram it is";
}

function drawFlowchart(lines: string[], first: string): Picture {
  const [head = "", ...more] = statementsOf([first, ...lines]);
  const found = /^\S+(?:\s+(TB|TD|BT|LR|RL)\b)?\s*(.*)$/is.exec(head);
  return flowchart([found?.[2] ?? "", ...more], (found?.[1] ?? "TD").toUpperCase());
}
