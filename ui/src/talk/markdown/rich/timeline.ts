// Timelines, as Mermaid writes them: periods beside each other, and below each what happened in it.

import {
  type Box,
  type Frame,
  framed,
  type Line,
  NotDrawn,
  type Picture,
  sized,
  tooMany,
  unquoted,
  wrapped,
} from "./picture";

const most_periods = 40;
const most_events = 150;
const gap_px = 16;
const row_gap_px = 10;

interface Period {
  box: Box;
  events: Box[];
  section: number;
}

export function timeline(lines: string[]): Picture {
  const periods: Period[] = [];
  const sections: string[] = [""];
  let title = "";
  let count = 0;
  const happen = (period: Period, texts: string[]) => {
    for (const text of texts) if (text.trim() !== "") period.events.push(sized(wrapped(text, 22), "note"));
    count += texts.length;
    if (count > most_events) throw tooMany();
  };
  for (const line of lines.map((one) => one.trim())) {
    const [head = "", ...events] = line.split(/\s*:\s*/);
    const own = periods.at(-1);
    if (/^title\s/i.test(line)) title = line.slice(6);
    else if (/^section\s/i.test(line)) sections.push(unquoted(line.slice(8)));
    else if (/^(?:accTitle|accDescr)\b/i.test(line)) continue;
    else if (head === "" && own) happen(own, events);
    else if (head !== "") {
      const period = { box: sized(wrapped(head, 22), "actor"), events: [], section: sections.length - 1 };
      periods.push(period);
      happen(period, events);
    }
    if (periods.length > most_periods) throw tooMany();
  }
  if (periods.length === 0) throw new NotDrawn("it is empty");
  return { ...drawn(periods, sections), title };
}

function drawn(periods: Period[], sections: string[]): Picture {
  const boxes: Box[] = [];
  const lines: Line[] = [];
  const frames: Frame[] = [];
  const head = Math.max(...periods.map(({ box }) => box.height));
  let x = 0;
  for (const [index, { box, events, section }] of periods.entries()) {
    const width = Math.max(box.width, ...events.map((event) => event.width));
    const isNew = index === 0 || periods[index - 1]?.section !== section;
    if (isNew && index > 0) x += gap_px;
    Object.assign(box, { x, y: 0, width, height: head });
    let y = head + 24;
    for (const event of events) {
      Object.assign(event, { x, y, width });
      y += event.height + row_gap_px;
    }
    const middle = x + width / 2;
    const points: [number, number][] = [
      [middle, head],
      [middle, Math.max(head + 12, y - row_gap_px)],
    ];
    lines.push({ points, label: "", at: [0, 0], dashed: true, ends: ["none", "none"] });
    boxes.push(box, ...events);
    const label = sections[section] ?? "";
    const frame = frames.at(-1);
    if (label !== "" && (isNew || !frame)) frames.push({ x: x - 10, y: -32, width: width + 20, height: 0, label });
    else if (label !== "" && frame) frame.width = x + width + 10 - frame.x;
    x += width + gap_px;
  }
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height));
  for (const frame of frames) frame.height = bottom + 10 - frame.y;
  return framed({ boxes, lines, frames });
}
