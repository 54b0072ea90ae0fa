// Sequence diagrams, as Mermaid writes them.

import { type Box, framed, type Line, letter_px, most_lines, NotDrawn, type Picture, sized, wrapped } from "./picture";

const gap_px = 28;
const row_px = 44;
const message = /^(\S+?)\s*(--?>>?|--?x|--?\))\s*([+-]?)\s*(\S+?)\s*:\s*(.*)$/;
const skipped =
  /^(activate|deactivate|autonumber|rect|loop|alt|else|opt|par|and|critical|option|break|end\b|title|links?\b)/;

export function sequence(lines: string[]): Picture {
  const actors = new Map<string, Box>();
  const actor = (id: string, label = id) => {
    if (!actors.has(id)) actors.set(id, sized(wrapped(label), "actor"));
    if (actors.size > 30) throw new NotDrawn("it has too many parts");
  };
  const said: { from: string; to: string; label: string; dashed: boolean; arrow: boolean; isNote: boolean }[] = [];
  for (const line of lines) {
    const named = /^(?:participant|actor)\s+(\S+?)(?:\s+as\s+(.+))?$/.exec(line);
    const note = /^note\s+(?:over|left of|right of)\s+([^:,]+)(?:,\s*([^:]+))?:\s*(.*)$/i.exec(line);
    const found = message.exec(line);
    if (named) actor(named[1] ?? "", named[2]);
    else if (note) {
      const [from, to] = [(note[1] ?? "").trim(), (note[2] ?? note[1] ?? "").trim()];
      actor(from);
      actor(to);
      said.push({ from, to, label: note[3] ?? "", dashed: false, arrow: false, isNote: true });
    } else if (found) {
      const [, from = "", sign = "", , to = "", label = ""] = found;
      actor(from);
      actor(to);
      said.push({
        from,
        to,
        label,
        dashed: sign.startsWith("--"),
        arrow: sign !== "->" && sign !== "-->",
        isNote: false,
      });
    } else if (!skipped.test(line)) throw new NotDrawn(`a message is expected at “${line.slice(0, 20)}”`);
    if (said.length > most_lines) throw new NotDrawn("it has too many parts");
  }
  if (actors.size === 0) throw new NotDrawn("it is empty");
  return places(actors, said);
}

function places(
  actors: Map<string, Box>,
  said: { from: string; to: string; label: string; dashed: boolean; arrow: boolean; isNote: boolean }[],
): Picture {
  const ids = [...actors.keys()];
  const gaps = ids.map(() => 60);
  for (const { from, to, label } of said) {
    const [a, b] = [ids.indexOf(from), ids.indexOf(to)].toSorted((one, other) => one - other) as [number, number];
    const wanted = (label.length * letter_px + 40) / Math.max(1, b - a);
    for (let at = a; at < Math.max(b, a + 1); at++) gaps[at] = Math.min(320, Math.max(gaps[at] ?? 0, wanted));
  }
  let x = 0;
  const head = Math.max(...[...actors.values()].map(({ height }) => height));
  for (const [index, box] of [...actors.values()].entries()) {
    box.x = x;
    box.height = head;
    const next = [...actors.values()][index + 1];
    x +=
      box.width / 2 +
      Math.max(gaps[index] ?? 0, box.width / 2 + gap_px + (next?.width ?? 0) / 2) -
      (next?.width ?? 0) / 2;
  }
  const middle = (id: string) => (actors.get(id)?.x ?? 0) + (actors.get(id)?.width ?? 0) / 2;
  const boxes = [...actors.values()];
  const lines: Line[] = [];
  let y = head + row_px;
  for (const { from, to, label, dashed, arrow, isNote } of said) {
    if (isNote) {
      const box = sized(wrapped(label), "note");
      const center = (middle(from) + middle(to)) / 2;
      boxes.push({ ...box, x: center - box.width / 2, y: y - row_px / 2 });
      y += box.height + 12;
      continue;
    }
    const [a, b] = [middle(from), middle(to)];
    const points: [number, number][] =
      from === to
        ? [
            [a, y],
            [a + 30, y],
            [a + 30, y + 16],
            [a, y + 16],
          ]
        : [
            [a, y],
            [b, y],
          ];
    lines.push({
      points,
      label,
      at: from === to ? [a + 36 + (label.length * letter_px) / 2, y + 4] : [(a + b) / 2, y - 8],
      dashed,
      arrow,
    });
    y += from === to ? row_px + 12 : row_px;
  }
  const width = Math.max(...boxes.map((box) => box.x + box.width));
  for (const id of ids)
    lines.unshift({
      points: [
        [middle(id), head],
        [middle(id), y],
      ],
      label: "",
      at: [0, 0],
      dashed: true,
      arrow: false,
    });
  return framed({ width, height: y, boxes, lines });
}
