// Flowcharts, as Mermaid writes them.

import { type Box, framed, type Line, most_boxes, most_lines, NotDrawn, type Picture, sized, wrapped } from "./picture";

interface Edge {
  from: string;
  to: string;
  label: string;
  dashed: boolean;
  arrow: boolean;
}

const node_id = /^[A-Za-z0-9_.\u00c0-\uffff]+/;
const shapes: [open: string, close: string, shape: Box["shape"]][] = [
  ["([", "])", "round"],
  ["[[", "]]", "box"],
  ["[(", ")]", "round"],
  ["((", "))", "round"],
  ["{{", "}}", "diamond"],
  ["[", "]", "box"],
  ["(", ")", "round"],
  ["{", "}", "diamond"],
  [">", "]", "box"],
];
const link =
  /^\s*(?:<)?(-->|---|-\.->|-\.-|==>|===|--o|--x)(?:\|([^|]*)\|)?\s*|^\s*(--|==|-\.)\s*([^-=.|][^|]*?)\s*(-->|---|==>|\.->|===)\s*/;
const ignored = /^(classDef|class|style|linkStyle|click|direction|subgraph|end\b|accTitle|accDescr)/;

export function flowchart(lines: string[], direction: string): Picture {
  const boxes = new Map<string, Box>();
  const edges: Edge[] = [];
  const node = (text: string): [id: string, rest: string] => {
    const id = node_id.exec(text)?.[0];
    if (!id) throw new NotDrawn(`a node is expected at “${text.slice(0, 20)}”`);
    let rest = text.slice(id.length);
    const found = shapes.find(([open]) => rest.startsWith(open));
    const end = found ? rest.indexOf(found[1], found[0].length) : -1;
    if (found && end < 0) throw new NotDrawn(`“${found[1]}” is missing behind ${id}`);
    const label = found ? rest.slice(found[0].length, end).trim() : "";
    if (found) rest = rest.slice(end + found[1].length);
    rest = rest.replace(/^:::\w+/, "");
    if (found || !boxes.has(id)) boxes.set(id, sized(wrapped(label || id), found?.[2] ?? "box"));
    if (boxes.size > most_boxes) throw new NotDrawn("it has too many parts");
    return [id, rest];
  };
  const group = (text: string): [ids: string[], rest: string] => {
    let [id, rest] = node(text);
    const ids = [id];
    for (let more = /^\s*&\s*/.exec(rest); more; more = /^\s*&\s*/.exec(rest)) {
      [id, rest] = node(rest.slice(more[0].length));
      ids.push(id);
    }
    return [ids, rest];
  };
  for (const line of lines) {
    if (line === "" || ignored.test(line)) continue;
    let [from, rest] = group(line);
    while (rest.trim() !== "") {
      const found = link.exec(rest);
      if (!found) throw new NotDrawn(`an arrow is expected at “${rest.trim().slice(0, 20)}”`);
      const sign = `${found[1] ?? ""}${found[3] ?? ""}${found[5] ?? ""}`;
      const [to, after] = group(rest.slice(found[0].length));
      for (const one of from)
        for (const other of to)
          edges.push({
            from: one,
            to: other,
            label: (found[2] ?? found[4] ?? "").trim().replace(/^"(.*)"$/, "$1"),
            dashed: sign.includes("."),
            arrow: sign.includes(">"),
          });
      if (edges.length > most_lines) throw new NotDrawn("it has too many parts");
      [from, rest] = [to, after];
    }
  }
  if (boxes.size === 0) throw new NotDrawn("it is empty");
  return layered(boxes, edges, direction);
}

const gap_px = 28;
const layer_gap_px = 56;
const rounds = 6;

/** Each box below all that lead to it, those of a layer near what they belong to. */
function layered(boxes: Map<string, Box>, edges: Edge[], direction: string): Picture {
  const isSide = direction === "LR" || direction === "RL";
  const rank = ranks([...boxes.keys()], edges);
  const layers: string[][] = [];
  for (const [id, at] of rank) {
    layers[at] ??= [];
    layers[at].push(id);
  }
  const place = new Map<string, number>();
  const note = () => {
    for (const layer of layers)
      for (const [index, id] of layer.entries()) place.set(id, index - (layer.length - 1) / 2);
  };
  note();
  for (let round = 0; round < rounds; round++) {
    for (const layer of layers) {
      const weight = (id: string) => {
        const near = edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []));
        const sum = near.reduce((total, other) => total + (place.get(other) ?? 0), 0);
        return near.length === 0 ? (place.get(id) ?? 0) : sum / near.length;
      };
      const weights = new Map(layer.map((id) => [id, weight(id)]));
      layer.sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
    }
    note();
  }
  const across = (box: Box) => (isSide ? box.height : box.width);
  const along = (box: Box) => (isSide ? box.width : box.height);
  const box = (id: string) => boxes.get(id) as Box;
  const breadth = layers.map((layer) => layer.reduce((sum, id) => sum + across(box(id)) + gap_px, -gap_px));
  const widest = Math.max(...breadth);
  const labels = edges.some(({ label }) => label) && isSide ? 40 : 0;
  let depth = 0;
  for (const [index, layer] of layers.entries()) {
    let side = (widest - (breadth[index] ?? 0)) / 2;
    const deepest = Math.max(...layer.map((id) => along(box(id))));
    for (const id of layer) {
      const own = box(id);
      const middle = depth + (deepest - along(own)) / 2;
      [own.x, own.y] = isSide ? [middle, side] : [side, middle];
      side += across(own) + gap_px;
    }
    depth += deepest + layer_gap_px + labels;
  }
  depth -= layer_gap_px + labels;
  const [width, height] = isSide ? [depth, widest] : [widest, depth];
  if (direction === "BT") for (const own of boxes.values()) own.y = height - own.y - own.height;
  if (direction === "RL") for (const own of boxes.values()) own.x = width - own.x - own.width;
  const lines = edges.map(({ from, to, label, dashed, arrow }): Line => {
    const points = from === to ? loop(box(from)) : [edgeOf(box(from), box(to)), edgeOf(box(to), box(from))];
    const [a, b] = [points[0] as [number, number], points.at(-1) as [number, number]];
    return { points: points as [number, number][], label, at: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], dashed, arrow };
  });
  return framed({ width, height, boxes: [...boxes.values()], lines });
}

/** How far each is from the beginning; what leads back does not count. */
function ranks(ids: string[], edges: Edge[]): Map<string, number> {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const order: string[] = [];
  const state = new Map<string, "open" | "done">();
  const back = new Set<string>();
  for (const start of ids) {
    if (state.has(start)) continue;
    const stack: { id: string; at: number }[] = [{ id: start, at: 0 }];
    state.set(start, "open");
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const to = next.get(top.id)?.[top.at];
      top.at += 1;
      if (to === undefined) {
        state.set(top.id, "done");
        order.unshift(top.id);
        stack.pop();
      } else if (state.get(to) === "open") back.add(`${top.id}\n${to}`);
      else if (!state.has(to)) {
        state.set(to, "open");
        stack.push({ id: to, at: 0 });
      }
    }
  }
  const rank = new Map(ids.map((id) => [id, 0]));
  for (const id of order) {
    for (const to of next.get(id) ?? []) {
      if (!back.has(`${id}\n${to}`)) rank.set(to, Math.max(rank.get(to) ?? 0, (rank.get(id) ?? 0) + 1));
    }
  }
  return rank;
}

/** Where the way from the middle of one box to the other's leaves it. */
function edgeOf(box: Box, other: Box): [number, number] {
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const [dx, dy] = [other.x + other.width / 2 - x, other.y + other.height / 2 - y];
  if (dx === 0 && dy === 0) return [x, y];
  const [across, along] = [Math.abs(dx) / (box.width / 2), Math.abs(dy) / (box.height / 2)];
  const scale = box.shape === "diamond" ? across + along : Math.max(across, along);
  return [x + dx / scale, y + dy / scale];
}

function loop({ x, y, width, height }: Box): [number, number][] {
  const right = x + width;
  return [
    [right, y + height / 3],
    [right + 20, y + height / 3],
    [right + 20, y + (2 * height) / 3],
    [right, y + (2 * height) / 3],
  ];
}
