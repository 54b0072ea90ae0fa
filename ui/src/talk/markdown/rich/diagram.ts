// The part of Mermaid that answers hold most: flowcharts and sequences, read into plain data.

import { flowchart } from "./flowchart";
import { NotDrawn, type Picture } from "./picture";
import { sequence } from "./sequence";

const longest_source = 20_000;

export function drawDiagram(source: string): Picture {
  if (source.length > longest_source) throw new NotDrawn("it is too long");
  const lines = source
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("%%"));
  const [first = "", ...rest] = lines;
  const flow = /^(?:flowchart|graph)\s+(TB|TD|BT|LR|RL)\b;?/i.exec(first);
  if (flow)
    return flowchart(
      rest.flatMap((line) => line.split(";")).map((line) => line.trim()),
      flow[1]?.toUpperCase() ?? "TD",
    );
  if (/^sequenceDiagram\b/.test(first)) return sequence(rest);
  throw new NotDrawn("only flowcharts and sequence diagrams are drawn");
}
