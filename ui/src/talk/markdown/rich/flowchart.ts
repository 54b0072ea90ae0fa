// Flowcharts, as Mermaid writes them.

import { GraphReader } from "./graphReader";
import { arranged, type Edge } from "./layers";
import { type Head, labelled, NotDrawn, type Picture, type Shape, sized, wrapped } from "./picture";

const node_id = /^(?:[A-Za-z0-9_.*$À-￿]|-(?=[A-Za-z0-9_])(?![ox][\s|]))+/;
const shapes: [open: string, close: string[], shape: Shape][] = [
  ["(((", [")))"], "double"],
  ["([", ["])"], "pill"],
  ["[[", ["]]"], "subroutine"],
  ["[(", [")]"], "cylinder"],
  ["[/", ["/]", "\\]"], "slant"],
  ["[\\", ["\\]", "/]"], "slant"],
  ["((", ["))"], "circle"],
  ["{{", ["}}"], "hexagon"],
  ["[", ["]"], "box"],
  ["(", [")"], "round"],
  ["{", ["}"], "diamond"],
  [">", ["]"], "box"],
];
/** The names of shapes that are written as properties. */
const named_shapes: Record<string, Shape> = {
  rounded: "round",
  event: "round",
  stadium: "pill",
  pill: "pill",
  terminal: "pill",
  subproc: "subroutine",
  subprocess: "subroutine",
  subroutine: "subroutine",
  cyl: "cylinder",
  db: "cylinder",
  database: "cylinder",
  cylinder: "cylinder",
  circle: "circle",
  circ: "circle",
  "dbl-circ": "double",
  diam: "diamond",
  diamond: "diamond",
  decision: "diamond",
  question: "diamond",
  hex: "hexagon",
  hexagon: "hexagon",
  prepare: "hexagon",
  "lean-r": "slant",
  "lean-l": "slant",
  "in-out": "slant",
  "out-in": "slant",
  text: "plain",
};
const plain_link = /^\s*(?:\w+@)?([<ox])?((?:-{2,}|={2,}|-\.+-)(?:>|[ox](?=[\s|]))|-{3,}|={3,}|-\.+-|~{3,})/;
const worded_link =
  /^\s*(?:\w+@)?([<ox])?(--|==|-\.)\s*("[^"]*"|[^\s>|-].*?)\s*(-{2,}(?:>|[ox](?=\s)|-)|={2,}(?:>|[ox](?=\s)|=)|\.+-(?:>|[ox](?=\s))?)/;
const link_text = /^\s*\|("[^"]*"|[^|]*)\|/;
const ignored = /^(?:classDef|class|style|linkStyle|click|href)\s|^(?:accTitle|accDescr)\b/;
const sign_heads: Record<string, Head> = { "<": "arrow", ">": "arrow", o: "circle", x: "cross" };

export function flowchart(statements: string[], direction: string): Picture {
  const reader = new Reader(direction);
  for (const statement of statements) reader.read(statement);
  return reader.finish();
}

class Reader extends GraphReader {
  constructor(direction: string) {
    super();
    this.graph.direction = direction;
  }

  finish(): Picture {
    return arranged(this.drawn());
  }

  read(statement: string): void {
    const group = /^subgraph\b\s*(.*)$/s.exec(statement);
    if (group) this.subgraph(group[1] ?? "");
    else if (/^end$/i.test(statement)) this.open.pop();
    else if (statement !== "" && !this.turn(statement) && !ignored.test(statement)) this.chain(statement);
  }

  private subgraph(text: string): void {
    const named = /^([^\s["]+)\s*\[(.*)\]$/s.exec(text);
    const isId = /^[^\s"]+$/.test(text);
    this.begin(named?.[1] ?? (isId ? text : `subgraph ${this.graph.groups.size}`), named?.[2] ?? text);
  }

  private chain(statement: string): void {
    let [from, rest] = this.many(statement);
    while (rest.trim() !== "") {
      const link = linkOf(rest);
      const [to, after] = this.many(link.rest);
      for (const one of from) for (const other of to) this.join({ ...link.edge, from: one, to: other });
      [from, rest] = [to, after];
    }
  }

  private many(text: string): [ids: string[], rest: string] {
    let [id, rest] = this.node(text.trimStart());
    const ids = [id];
    for (let more = /^\s*&\s*/.exec(rest); more; more = /^\s*&\s*/.exec(rest)) {
      [id, rest] = this.node(rest.slice(more[0].length));
      ids.push(id);
    }
    return [ids, rest];
  }

  private node(text: string): [id: string, rest: string] {
    const id = node_id.exec(text)?.[0];
    if (!id) throw new NotDrawn(`a node is expected at “${text.slice(0, 20)}”`);
    const written = shapeOf(id, text.slice(id.length));
    const box = () => sized(wrapped(written.label || id), written.shape ?? "box");
    this.put(id, box);
    if (written.shape) this.graph.boxes.set(id, box());
    return [id, written.rest.replace(/^\s*:::[\w,-]+/, "")];
  }
}

interface Written {
  label: string;
  shape: Shape | null;
  rest: string;
}

function shapeOf(id: string, rest: string): Written {
  const properties = /^@\{([^}]*)\}/.exec(rest);
  if (properties) {
    const value = (name: string) => new RegExp(`\\b${name}:\\s*("[^"]*"|[^,}\\s]+)`).exec(properties[1] ?? "")?.[1];
    const shape = named_shapes[value("shape") ?? ""] ?? "box";
    return { label: value("label") ?? "", shape, rest: rest.slice(properties[0].length) };
  }
  const [open, closes, shape] = shapes.find(([sign]) => rest.startsWith(sign)) ?? [];
  if (!open || !closes || !shape) return { label: "", shape: null, rest };
  // What is quoted may hold any sign.
  const quoted = /^\s*"[^"]*"/.exec(rest.slice(open.length))?.[0].length ?? 0;
  const ends = closes.map((close) => rest.indexOf(close, open.length + quoted)).filter((end) => end >= 0);
  if (ends.length === 0) throw new NotDrawn(`“${closes[0]}” is missing behind ${id}`);
  const end = Math.min(...ends);
  return { label: rest.slice(open.length, end), shape, rest: rest.slice(end + open.length) };
}

function linkOf(text: string): { edge: Omit<Edge, "from" | "to">; rest: string } {
  const plain = plain_link.exec(text);
  const worded = plain ? null : worded_link.exec(text);
  const found = plain ?? worded;
  if (!found) throw new NotDrawn(`an arrow is expected at “${text.trim().slice(0, 20)}”`);
  const sign = plain ? (plain[2] ?? "") : `${worded?.[2]}${worded?.[4]}`;
  let rest = text.slice(found[0].length);
  const words = link_text.exec(rest);
  if (words) rest = rest.slice(words[0].length);
  const ends: [Head, Head] = [sign_heads[found[1] ?? ""] ?? "none", sign_heads[sign.at(-1) ?? ""] ?? "none"];
  const label = labelled(words?.[1] ?? worded?.[3] ?? "");
  return { edge: { label, dashed: sign.includes("."), ends, isHidden: sign.startsWith("~") }, rest };
}
