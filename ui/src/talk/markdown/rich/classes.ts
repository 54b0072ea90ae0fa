// Class diagrams, as Mermaid writes them.

import { GraphReader } from "./graphReader";
import { arranged, type Edge } from "./layers";
import { type Head, labelled, NotDrawn, type Picture, unquoted, wrapped } from "./picture";
import { tableBox, typed } from "./tables";

const name = "(`[^`]+`|[\\w.\\u00c0-\\uffff-]+?(?:~[^:\\s]*~)?)";
const relation = new RegExp(
  `^${name}\\s*("[^"]*")?\\s*(<\\||[<*o]|\\(\\))?(--|\\.\\.)(\\|>|[>*o]|\\(\\))?\\s*("[^"]*")?\\s*${name}\\s*(?::\\s*(.*))?$`,
);
const declared = new RegExp(`^class\\s+${name}\\s*(?:\\["([^"]*)"\\])?\\s*(?::::\\w+)?\\s*(?:<<(.+?)>>)?\\s*(\\{.*)?$`);
const member = new RegExp(`^${name}\\s*:\\s*(.+)$`);
const annotated = new RegExp(`^<<(.+?)>>\\s*${name}$`);
const noted = new RegExp(`^note\\s+(?:for\\s+${name}\\s+)?"([^"]*)"$`);
const ignored = /^(?:classDef|cssClass|style|click|link|callback|accTitle|accDescr)\b/;
const heads: Record<string, Head> = {
  "<|": "triangle",
  "|>": "triangle",
  "<": "arrow",
  ">": "arrow",
  "*": "full",
  o: "diamond",
  "()": "circle",
};

interface Class {
  title: string;
  kind: string;
  fields: string[];
  methods: string[];
}

export function classes(lines: string[]): Picture {
  const reader = new ClassReader();
  for (const line of lines) reader.read(line.trim());
  return reader.finish();
}

class ClassReader extends GraphReader {
  private readonly known = new Map<string, Class>();
  /** The class whose members are listed. */
  private listed: Class | null = null;

  read(line: string): void {
    if (this.listed) this.list(this.listed, line);
    else if (
      !this.turn(line) &&
      !this.space(line) &&
      !this.remark(line) &&
      !this.relation(line) &&
      !this.declared(line)
    )
      this.detail(line);
  }

  finish(): Picture {
    for (const [id, { title, kind, fields, methods }] of this.known) {
      const head = [...(kind === "" ? [] : [`«${kind}»`]), ...wrapped(typed(title))];
      this.graph.boxes.set(id, tableBox(head, [fields, methods]));
    }
    return arranged(this.drawn());
  }

  private of(written: string): Class {
    const id = idOf(written);
    const known = this.known.get(id) ?? { title: written.replaceAll("`", ""), kind: "", fields: [], methods: [] };
    if (written.includes("~")) known.title = written;
    this.known.set(id, known);
    this.put(id, () => tableBox([id], []));
    return known;
  }

  private list(of: Class, line: string): void {
    const rows = line.replace(/\}\s*$/, "");
    for (const row of rows.split(";")) addMember(of, row);
    if (line.endsWith("}") && !/\{[^}]*\}$/.test(line)) this.listed = null;
  }

  private space(line: string): boolean {
    const found = /^namespace\s+([^\s{]+)\s*\{$/.exec(line)?.[1];
    if (found) this.begin(`namespace ${found}`, found);
    else if (line === "}") this.open.pop();
    return found !== undefined || line === "}";
  }

  private remark(line: string): boolean {
    const found = noted.exec(line);
    if (found?.[1]) this.of(found[1]);
    if (found) this.note(wrapped(found[2] ?? ""), found[1] ? idOf(found[1]) : null);
    return found !== null;
  }

  private relation(line: string): boolean {
    const found = relation.exec(line);
    if (!found) return false;
    const [, left = "", leftCount, begin = "", dashes, end = "", rightCount, right = "", label = ""] = found;
    this.of(left);
    this.of(right);
    const edge: Edge = {
      from: idOf(left),
      to: idOf(right),
      label: labelled(label),
      dashed: dashes === "..",
      ends: [heads[begin] ?? "none", heads[end] ?? "none"],
    };
    if (leftCount || rightCount) edge.counts = [unquoted(leftCount ?? ""), unquoted(rightCount ?? "")];
    this.join(edge);
    return true;
  }

  private declared(line: string): boolean {
    const found = declared.exec(line);
    if (!found) return false;
    const [, id = "", title, kind, rest] = found;
    const own = this.of(id);
    if (title) own.title = title;
    if (kind) own.kind = kind;
    if (rest) {
      this.listed = own;
      this.list(own, rest.slice(1));
    }
    return true;
  }

  private detail(line: string): void {
    const [note, own] = [annotated.exec(line), member.exec(line)];
    if (note) this.of(note[2] ?? "").kind = note[1] ?? "";
    else if (own) addMember(this.of(own[1] ?? ""), own[2] ?? "");
    else if (!ignored.test(line)) throw new NotDrawn(`a class is expected at “${line.slice(0, 20)}”`);
  }
}

const idOf = (written: string) => written.replace(/~.*$/, "").replaceAll("`", "");

function addMember(of: Class, written: string): void {
  const row = written.trim();
  const kind = /^<<(.+)>>$/.exec(row)?.[1];
  if (kind) of.kind = kind;
  else if (row !== "") (row.includes("(") ? of.methods : of.fields).push(typed(row.replace(/[$*]$/, "")));
}
