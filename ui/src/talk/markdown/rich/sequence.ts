// Sequence diagrams, as Mermaid writes them.

import {
  type Box,
  type Head,
  labelled,
  most_lines,
  most_nesting,
  NotDrawn,
  type Picture,
  sized,
  tooMany,
  unquoted,
  wrapped,
} from "./picture";
import { sequencePicture } from "./sequencePicture";

export interface Message {
  kind: "message";
  from: string;
  to: string;
  label: string;
  dashed: boolean;
  ends: [Head, Head];
}

export interface Note {
  kind: "note";
  from: string;
  to: string;
  side: string;
  lines: string[];
}

/** One after the other, from above. */
export type Step =
  | Message
  | Note
  | { kind: "begin"; label: string; isQuiet: boolean }
  | { kind: "further"; label: string }
  | { kind: "end" }
  | { kind: "active"; id: string; isOn: boolean };

const most_actors = 30;
const message = /^(.+?)\s*(<<)?(-{1,2})(>>|>|x|\))\s*([+-]?)\s*([^+\-:][^:]*?)\s*:\s*(.*)$/;
const named = /^(?:create\s+)?(?:participant|actor)\s+(.+?)(?:@\{[^}]*\})?(?:\s+as\s+(.+))?$/i;
const noted = /^note\s+(over|left of|right of)\s+([^:,]+)(?:,\s*([^:]+))?:\s*(.*)$/i;
const begun = /^(alt|opt|loop|par|critical|break|rect|box)\b\s*(.*)$/i;
const further = /^(?:else|and|option)\b\s*(.*)$/i;
const activated = /^(de)?activate\s+(.+)$/i;
const skipped = /^(?:links?|properties|details|destroy|accTitle|accDescr)\b/i;
const ends: Record<string, Head> = { ">>": "arrow", ">": "none", x: "cross", ")": "open" };

export function sequence(lines: string[]): Picture {
  const reader = new Reader();
  for (const line of lines) reader.read(line);
  if (reader.actors.size === 0) throw new NotDrawn("it is empty");
  return { ...sequencePicture(reader.actors, reader.steps), title: reader.title };
}

class Reader {
  readonly actors = new Map<string, Box>();
  readonly steps: Step[] = [];
  title = "";
  private count = 0;
  private depth = 0;
  private isNumbered = false;

  read(line: string): void {
    const isRead =
      this.message(line) || this.note(line) || this.actorLine(line) || this.part(line) || this.setting(line);
    if (!isRead && !skipped.test(line)) throw new NotDrawn(`a message is expected at “${line.slice(0, 20)}”`);
    if (this.steps.length > most_lines) throw tooMany();
  }

  private actor(id: string, label = id): string {
    if (!this.actors.has(id)) this.actors.set(id, sized(wrapped(label), "actor"));
    if (this.actors.size > most_actors) throw tooMany();
    return id;
  }

  private message(line: string): boolean {
    const found = message.exec(line);
    if (!found) return false;
    const [, left = "", both, dashes, sign = "", mark, right = "", text = ""] = found;
    const [from, to] = [this.actor(left), this.actor(right)];
    this.count += 1;
    const label = labelled(this.isNumbered ? `${this.count}. ${unquoted(text)}` : text);
    const dashed = dashes === "--";
    this.steps.push({
      kind: "message",
      from,
      to,
      label,
      dashed,
      ends: [both ? "arrow" : "none", ends[sign] ?? "none"],
    });
    if (mark) this.steps.push({ kind: "active", id: mark === "+" ? to : from, isOn: mark === "+" });
    return true;
  }

  private note(line: string): boolean {
    const found = noted.exec(line);
    if (!found) return false;
    const from = this.actor((found[2] ?? "").trim());
    const to = this.actor((found[3] ?? from).trim());
    this.steps.push({ kind: "note", from, to, side: (found[1] ?? "").toLowerCase(), lines: wrapped(found[4] ?? "") });
    return true;
  }

  private actorLine(line: string): boolean {
    const [name, active] = [named.exec(line), activated.exec(line)];
    if (name) this.actor(unquoted(name[1] ?? ""), name[2]);
    else if (active) this.steps.push({ kind: "active", id: this.actor((active[2] ?? "").trim()), isOn: !active[1] });
    return name !== null || active !== null;
  }

  private part(line: string): boolean {
    const [begin, next] = [begun.exec(line), further.exec(line)];
    if (begin) {
      this.depth += 1;
      if (this.depth > most_nesting) throw new NotDrawn("it is nested too deeply");
      const kind = (begin[1] ?? "").toLowerCase();
      const isQuiet = kind === "rect" || kind === "box";
      this.steps.push({ kind: "begin", label: isQuiet ? "" : labelled(`${kind} ${bracketed(begin[2])}`), isQuiet });
      return true;
    }
    if (next) {
      this.steps.push({ kind: "further", label: labelled(bracketed(next[1])) });
      return true;
    }
    if (!/^end$/i.test(line)) return false;
    if (this.depth > 0) this.steps.push({ kind: "end" });
    this.depth = Math.max(0, this.depth - 1);
    return true;
  }

  private setting(line: string): boolean {
    const isNumber = /^autonumber\b/i.test(line);
    if (isNumber) this.isNumbered = !/\boff\b/.test(line);
    const title = /^title\b:?\s*(.*)$/i.exec(line)?.[1];
    if (title !== undefined) this.title = title;
    return isNumber || title !== undefined;
  }
}

const bracketed = (text = "") => (text.trim() === "" ? "" : `[${unquoted(text)}]`);
