// Entity-relationship diagrams, as Mermaid writes them.

import { GraphReader } from "./graphReader";
import { arranged } from "./layers";
import { labelled, NotDrawn, type Picture, unquoted, wrapped } from "./picture";
import { tableBox } from "./tables";

const name = '("[^"]+"|[\\w.\\u00c0-\\uffff-]+?)';
const alias = '(?:\\[("[^"]*"|[^\\]]*)\\])?';
const relation = new RegExp(
  `^${name}${alias}\\s*(\\|o|\\|\\||\\}o|\\}\\|)(--|\\.\\.)(o\\||\\|\\||o\\{|\\|\\{)\\s*${name}${alias}\\s*(?::\\s*(.*))?$`,
);
const entity = new RegExp(`^${name}${alias}\\s*(?::::\\w+)?\\s*(\\{.*)?$`);
const attribute = /^([^\s"]+)\s+([^\s"]+)((?:\s*,?\s*(?:PK|FK|UK))*)\s*(?:"([^"]*)")?$/;
const ignored = /^(?:classDef|class|style|accTitle|accDescr)\s/;
const counts: Record<string, string> = {
  "|o": "0..1",
  "o|": "0..1",
  "||": "1",
  "}o": "0..*",
  "o{": "0..*",
  "}|": "1..*",
  "|{": "1..*",
};

interface Entity {
  title: string;
  rows: string[];
}

export function entities(lines: string[]): Picture {
  const reader = new EntityReader();
  for (const line of lines) reader.read(line.trim());
  return reader.finish();
}

class EntityReader extends GraphReader {
  private readonly known = new Map<string, Entity>();
  /** The one whose attributes are listed. */
  private listed: Entity | null = null;

  read(line: string): void {
    if (this.listed) this.list(this.listed, line);
    else if (!this.turn(line) && !this.relation(line) && !ignored.test(line)) this.entity(line);
  }

  finish(): Picture {
    for (const [id, { title, rows }] of this.known) this.graph.boxes.set(id, tableBox(wrapped(title), [rows]));
    return arranged(this.drawn());
  }

  private of(written: string, title: string | undefined): string {
    const id = unquoted(written);
    const known = this.known.get(id) ?? { title: id, rows: [] };
    if (title) known.title = title;
    this.known.set(id, known);
    this.put(id, () => tableBox([id], []));
    return id;
  }

  private list(of: Entity, line: string): void {
    const row = line.replace(/\}\s*$/, "").trim();
    const found = attribute.exec(row);
    if (found) {
      const [, type, field, keys = "", remark] = found;
      of.rows.push([field, type, keys.replaceAll(",", " ").trim(), remark && `“${remark}”`].filter(Boolean).join("  "));
    } else if (row !== "") throw new NotDrawn(`an attribute is expected at “${row.slice(0, 20)}”`);
    if (line.endsWith("}")) this.listed = null;
  }

  private relation(line: string): boolean {
    const found = relation.exec(line);
    if (!found) return false;
    const [, left = "", leftTitle, begin = "", dashes, end = "", right = "", rightTitle, label = ""] = found;
    const [from, to] = [this.of(left, leftTitle), this.of(right, rightTitle)];
    const both: [string, string] = [counts[begin] ?? "", counts[end] ?? ""];
    this.join({ from, to, label: labelled(label), dashed: dashes === "..", ends: ["none", "none"], counts: both });
    return true;
  }

  private entity(line: string): void {
    const found = entity.exec(line);
    if (!found) throw new NotDrawn(`an entity is expected at “${line.slice(0, 20)}”`);
    const [, written = "", title, rest] = found;
    const own = this.known.get(this.of(written, title));
    if (!rest || !own) return;
    this.listed = own;
    this.list(own, rest.slice(1));
  }
}
