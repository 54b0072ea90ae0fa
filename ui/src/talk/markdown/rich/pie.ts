// Pie charts, as Mermaid writes them.

import { type Area, framed, NotDrawn, type Picture, tooMany, unquoted, type Words } from "./picture";

const most_parts = 16;
const radius_px = 90;
const row_px = 24;
const swatch_px = 14;
/** Of a smaller part the share stands in the legend alone. */
const smallest_named = 0.06;

export function pie(lines: string[], first: string): Picture {
  const head = [first.replace(/^pie\b/i, ""), ...lines.map((line) => line.trim())];
  const isWithValues = head.some((line) => /^\s*showData\b/i.test(line));
  const title = head.map((line) => /\btitle\s+(.+)$/i.exec(line)?.[1]).find(Boolean) ?? "";
  const parts = lines.flatMap((line) => {
    const found = /^\s*"([^"]*)"\s*:\s*(\d{1,15}(?:\.\d{1,9})?)\s*$/.exec(line);
    if (!found && !/^\s*(?:title|showData|accTitle|accDescr)\b/i.test(line))
      throw new NotDrawn(`a part is expected at “${line.trim().slice(0, 20)}”`);
    return found ? [{ name: unquoted(found[1] ?? ""), value: Number(found[2]) }] : [];
  });
  const whole = parts.reduce((sum, { value }) => sum + value, 0);
  if (whole <= 0) throw new NotDrawn("it is empty");
  if (parts.length > most_parts) throw tooMany();
  const areas: Area[] = [];
  const words: Words[] = [];
  const top = radius_px - (parts.length * row_px) / 2;
  let turned = 0;
  for (const [tone, { name, value }] of parts.entries()) {
    const share = value / whole;
    const percent = `${Math.round(share * 100)} %`;
    const middle = (turned + share / 2) * 2 * Math.PI;
    const sector: [number, number] = [turned, turned + share];
    const y = top + tone * row_px;
    areas.push({ x: 0, y: 0, width: 2 * radius_px, height: 2 * radius_px, tone, sector });
    areas.push({ x: 2 * radius_px + 36, y: y + (row_px - swatch_px) / 2, width: swatch_px, height: swatch_px, tone });
    const away = radius_px + 14;
    const at: [number, number] = [radius_px + (away + 8) * Math.sin(middle), radius_px - away * Math.cos(middle)];
    if (share >= smallest_named) words.push({ text: percent, at, align: "middle", kind: "small" });
    const text = `${name.slice(0, 60)} · ${isWithValues ? `${value} (${percent})` : percent}`;
    words.push({ text, at: [2 * radius_px + 58, y + row_px / 2], align: "start", kind: "text" });
    turned += share;
  }
  return { ...framed({ boxes: [], lines: [], areas, words }), title };
}
