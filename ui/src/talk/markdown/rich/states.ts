// State diagrams, as Mermaid writes them.

import { GraphReader } from "./graphReader";
import { arranged } from "./layers";
import { type Box, labelled, NotDrawn, type Picture, sized, unquoted, wrapped } from "./picture";

const transition = /^(\[\*\]|[^\s:]+?)\s*-->\s*(\[\*\]|[^\s:]+)\s*(?::\s*(.*))?$/;
const described = /^([^\s:]+)\s*:\s*(.+)$/;
const named = /^state\s+"([^"]*)"\s+as\s+([^\s{]+)\s*(\{)?$/;
const special = /^state\s+(\S+)\s+(?:<<|\[\[)(\w+)(?:>>|\]\])$/;
const begun = /^state\s+("[^"]*"|[^\s{]+)\s*(\{)?$/;
const noted = /^note\s+(?:left|right)\s+of\s+([^\s:]+)\s*(?::\s*(.*))?$/i;
const ignored = /^(?:classDef|class|style|hide|scale|accTitle|accDescr)\b/;

const dot_px = 18;

export function states(lines: string[]): Picture {
  const reader = new StateReader();
  for (const line of lines) reader.read(line.trim());
  return reader.finish();
}

class StateReader extends GraphReader {
  /** A note that goes on until its end. */
  private noteOf: string | null = null;
  private noteLines: string[] = [];

  finish(): Picture {
    return arranged(this.drawn());
  }

  read(line: string): void {
    if (this.noteOf !== null) this.goOn(this.noteOf, line);
    else if (line === "}") this.open.pop();
    else if (!this.turn(line) && !this.transition(line) && !this.state(line) && !this.remark(line)) this.other(line);
  }

  private goOn(of: string, line: string): void {
    if (!/^end\s*note$/i.test(line)) {
      this.noteLines.push(line);
      return;
    }
    this.note(wrapped(this.noteLines.join("\n")), of);
    [this.noteOf, this.noteLines] = [null, []];
  }

  private remark(line: string): boolean {
    const found = noted.exec(line);
    if (!found) return false;
    const of = this.named(found[1] ?? "");
    if (found[2] === undefined) this.noteOf = of;
    else this.note(wrapped(found[2]), of);
    return true;
  }

  private transition(line: string): boolean {
    const found = transition.exec(line);
    if (!found) return false;
    const [from, to] = [this.end(found[1] ?? "", "start"), this.end(found[2] ?? "", "end")];
    this.join({ from, to, label: labelled(found[3] ?? ""), dashed: false, ends: ["none", "arrow"] });
    return true;
  }

  /** The beginning and the end have one sign; each group has its own. */
  private end(id: string, shape: "start" | "end"): string {
    if (id !== "[*]") return this.named(id);
    const own = `${shape} of ${this.open.at(-1) ?? ""}`;
    this.put(own, () => ({ ...sized([], shape), width: dot_px, height: dot_px }));
    return own;
  }

  private named(written: string): string {
    const id = written.replace(/:::\w+$/, "");
    if (!this.graph.groups.has(id)) this.put(id, () => sized(wrapped(id), "round"));
    return id;
  }

  private state(line: string): boolean {
    const [name, kind, group] = [named.exec(line), special.exec(line), begun.exec(line)];
    if (name?.[3]) this.begin(name[2] ?? "", name[1] ?? "");
    else if (name) this.describe(name[2] ?? "", name[1] ?? "");
    else if (kind) this.special(kind[1] ?? "", kind[2] ?? "");
    else if (group?.[2]) this.begin(unquoted(group[1] ?? ""), group[1] ?? "");
    else if (group) this.named(unquoted(group[1] ?? ""));
    return (name ?? kind ?? group) !== null;
  }

  private special(id: string, kind: string): void {
    const isChoice = kind.toLowerCase() === "choice";
    const bar = { width: 70, height: 8 };
    const box: Box = { ...sized([], isChoice ? "diamond" : "bar"), ...(isChoice ? { width: 28, height: 28 } : bar) };
    this.put(id, () => box);
  }

  private describe(id: string, text: string): void {
    this.belong(id);
    this.graph.boxes.set(id, sized(wrapped(text), "round"));
  }

  private other(line: string): void {
    // What happens at the same time is drawn side by side.
    if (line === "--" || ignored.test(line)) return;
    const found = described.exec(line);
    if (found) {
      const [, id = "", text = ""] = found;
      const group = this.graph.groups.get(id);
      if (group) group.label = labelled(text);
      else if (this.isDescribed(id)) this.describe(id, `${this.textOf(id)}<br>${text}`);
      else this.describe(id, text);
    } else if (/^[^\s{}]+$/.test(line)) this.named(line);
    else throw new NotDrawn(`a state is expected at “${line.slice(0, 20)}”`);
  }

  private readonly descriptions = new Set<string>();

  private isDescribed(id: string): boolean {
    const isKnown = this.descriptions.has(id);
    this.descriptions.add(id);
    return isKnown;
  }

  private textOf(id: string): string {
    return this.graph.boxes.get(id)?.lines.join("<br>") ?? "";
  }
}
