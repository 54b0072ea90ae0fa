// A sequence as a picture: who takes part beside each other, and below them what is said, from above.

import {
  type Box,
  type Frame,
  framed,
  type Line,
  line_px,
  type Picture,
  type Point,
  sized,
  sizeOf,
  type Words,
} from "./picture";
import type { Message, Note, Step } from "./sequence";

const gap_px = 28;
const row_px = 18;
const bar_px = 10;
const loop_px = 30;
const frame_px = 16;

export function sequencePicture(actors: Map<string, Box>, steps: Step[]): Picture {
  spread(actors, steps);
  const drawing = new Drawing(actors);
  for (const step of steps) drawing.add(step);
  return drawing.finish();
}

/** Beside each other, so far apart that what is said between them can be read. */
function spread(actors: Map<string, Box>, steps: Step[]): void {
  const ids = [...actors.keys()];
  const boxes = [...actors.values()];
  const gaps = ids.map(() => 60);
  for (const step of steps) {
    if (step.kind !== "message") continue;
    const [a = 0, b = 0] = [ids.indexOf(step.from), ids.indexOf(step.to)].toSorted((one, other) => one - other);
    const beside = a === b ? loop_px : 0;
    const wanted = (sizeOf(step.label).width + beside + 34) / Math.max(1, b - a);
    for (let at = a; at < Math.max(b, a + 1); at++) gaps[at] = Math.max(gaps[at] ?? 0, wanted);
  }
  const head = Math.max(...boxes.map(({ height }) => height));
  let middle = 0;
  for (const [index, box] of boxes.entries()) {
    const before = boxes[index - 1];
    if (before) middle += Math.max(gaps[index - 1] ?? 0, before.width / 2 + gap_px + box.width / 2);
    box.x = middle - box.width / 2;
    box.height = head;
  }
}

/** What is said under one condition, or again and again. */
interface Part {
  frame: Frame;
  isQuiet: boolean;
  from: number;
  to: number;
  /** Where it goes on under another condition. */
  cuts: { y: number; label: string }[];
}

class Drawing {
  private y: number;
  private lastY: number;
  private readonly head: number;
  private readonly lines: Line[] = [];
  private readonly frames: Frame[] = [];
  private readonly words: Words[] = [];
  private readonly notes: Box[] = [];
  private readonly bars: Box[] = [];
  private readonly parts: Part[] = [];
  /** Since where somebody is at work; once more for each time they are called meanwhile. */
  private readonly active = new Map<string, number[]>();

  constructor(private readonly actors: Map<string, Box>) {
    this.head = Math.max(...[...actors.values()].map(({ height }) => height));
    this.y = this.head + 20;
    this.lastY = this.y;
  }

  add(step: Step): void {
    if (step.kind === "message") this.message(step);
    else if (step.kind === "note") this.note(step);
    else if (step.kind === "begin") this.begin(step.label, step.isQuiet);
    else if (step.kind === "further") this.further(step.label);
    else if (step.kind === "active") this.work(step.id, step.isOn);
    else this.close();
  }

  finish(): Picture {
    while (this.parts.length > 0) this.close();
    for (const [id, since] of this.active) while (since.length > 0) this.rest(id, this.y);
    const lives = [...this.actors.keys()].map((id) =>
      this.line([this.middle(id), this.head], [this.middle(id), this.y + 8]),
    );
    const boxes = [...this.bars, ...this.actors.values(), ...this.notes];
    return framed({ boxes, lines: [...lives, ...this.lines], frames: this.frames, words: this.words });
  }

  private middle(id: string): number {
    const box = this.actors.get(id);
    return box ? box.x + box.width / 2 : 0;
  }

  private line(from: Point, to: Point): Line {
    return { points: [from, to], label: "", at: [0, 0], dashed: true, ends: ["none", "none"] };
  }

  private cover(...xs: number[]): void {
    for (const part of this.parts) {
      part.from = Math.min(part.from, ...xs);
      part.to = Math.max(part.to, ...xs);
    }
  }

  private message({ from, to, label, dashed, ends }: Message): void {
    const [a, b] = [this.middle(from), this.middle(to)];
    const { width, height } = sizeOf(label);
    this.y += label === "" ? 12 : from === to ? height / 2 : height;
    const y = this.y;
    const loop: Point[] = [
      [a, y],
      [a + loop_px, y],
      [a + loop_px, y + row_px],
      [a, y + row_px],
    ];
    const points: Point[] = from === to ? loop : [loop[0] as Point, [b, y]];
    const at: Point = from === to ? [a + loop_px + 6 + width / 2, y + row_px / 2] : [(a + b) / 2, y - height / 2 - 2];
    this.lines.push({ points, label, at, dashed, ends });
    this.cover(a, from === to ? at[0] + width / 2 : b);
    this.lastY = from === to ? y + row_px : y;
    this.y += row_px + (from === to ? row_px / 2 + height / 2 : 0);
  }

  private note({ from, to, side, lines }: Note): void {
    const box = sized(lines, "note");
    const [a, b] = [this.middle(from), this.middle(to)].toSorted((one, other) => one - other) as [number, number];
    const isOver = side === "over";
    if (isOver) box.width = Math.max(box.width, b - a + 40);
    box.x = isOver ? (a + b - box.width) / 2 : side === "left of" ? a - box.width - 12 : a + 12;
    box.y = this.y;
    this.notes.push(box);
    this.cover(box.x, box.x + box.width);
    this.lastY = this.y + box.height;
    this.y += box.height + 12;
  }

  private begin(label: string, isQuiet: boolean): void {
    const frame = { x: 0, y: this.y, width: 0, height: 0, label };
    const [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    this.parts.push({ frame, isQuiet, from, to, cuts: [] });
    if (!isQuiet) this.y += sizeOf(label).height + 8;
  }

  private further(label: string): void {
    const part = this.parts.at(-1);
    if (!part) return;
    this.y += 4;
    part.cuts.push({ y: this.y, label });
    this.y += sizeOf(label).height + 8;
  }

  private close(): void {
    const part = this.parts.pop();
    if (!part || part.isQuiet) return;
    const { frame, cuts } = part;
    if (part.from > part.to) [part.from, part.to] = [0, 0];
    const label = Math.max(sizeOf(frame.label).width, ...cuts.map((cut) => sizeOf(cut.label).width));
    frame.x = part.from - frame_px;
    frame.width = Math.max(part.to + frame_px - frame.x, label + frame_px);
    frame.height = this.y - frame.y;
    const right = frame.x + frame.width;
    this.frames.push(frame);
    this.cover(frame.x, right);
    for (const cut of cuts) {
      this.lines.push(this.line([frame.x, cut.y], [right, cut.y]));
      for (const [index, text] of cut.label.split("\n").entries()) {
        const at: Point = [frame.x + 8, cut.y + 14 + index * line_px];
        this.words.push({ text, at, align: "start", kind: "small" });
      }
    }
    this.y += 14;
  }

  private work(id: string, isOn: boolean): void {
    if (isOn) this.active.set(id, [...(this.active.get(id) ?? []), this.lastY]);
    else this.rest(id, this.lastY);
  }

  private rest(id: string, until: number): void {
    const since = this.active.get(id);
    const from = since?.pop();
    if (since === undefined || from === undefined) return;
    const x = this.middle(id) - bar_px / 2 + since.length * 4;
    this.bars.push({ x, y: from, width: bar_px, height: Math.max(6, until - from), lines: [], shape: "work" });
  }
}
