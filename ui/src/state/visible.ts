// Characters that cannot be seen, or that put others in another order, made visible: what somebody approves must be what they read.
// Letters that only look alike are left as they are. The server has the same table, for what it renders and prints.

export interface HiddenCharacter {
  /** As it is shown: ⟨U+202E⟩. */
  mark: string;
  /** Which one it is, in full: U+202E RIGHT-TO-LEFT OVERRIDE. */
  name: string;
}

export type Piece = string | HiddenCharacter;

const ranges: [first: number, last: number][] = [
  // Controls, but for the tab and the line feed.
  [0x0000, 0x0008],
  [0x000b, 0x001f],
  [0x007f, 0x009f],
  // Without a width of their own.
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  // Zero-width, marks of direction, separators, embeddings and overrides.
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  // Variation selectors; what they choose is seldom to be seen.
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  // Of shorthand and of music.
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  // Tags and the other variation selectors: whole sentences fit into them.
  [0xe0000, 0xe0fff],
];

const names: Record<number, string> = {
  8: "BACKSPACE",
  13: "CARRIAGE RETURN",
  27: "ESCAPE",
  173: "SOFT HYPHEN",
  1564: "ARABIC LETTER MARK",
  8203: "ZERO WIDTH SPACE",
  8204: "ZERO WIDTH NON-JOINER",
  8205: "ZERO WIDTH JOINER",
  8206: "LEFT-TO-RIGHT MARK",
  8207: "RIGHT-TO-LEFT MARK",
  8232: "LINE SEPARATOR",
  8233: "PARAGRAPH SEPARATOR",
  8234: "LEFT-TO-RIGHT EMBEDDING",
  8235: "RIGHT-TO-LEFT EMBEDDING",
  8236: "POP DIRECTIONAL FORMATTING",
  8237: "LEFT-TO-RIGHT OVERRIDE",
  8238: "RIGHT-TO-LEFT OVERRIDE",
  8288: "WORD JOINER",
  8294: "LEFT-TO-RIGHT ISOLATE",
  8295: "RIGHT-TO-LEFT ISOLATE",
  8296: "FIRST STRONG ISOLATE",
  8297: "POP DIRECTIONAL ISOLATE",
  65279: "ZERO WIDTH NO-BREAK SPACE",
};

const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, "0");
const classOf = (list: [number, number][]) =>
  list.map(([first, last]) => `\\u{${hex(first)}}-\\u{${hex(last)}}`).join("");
const hidden = new RegExp(`[${classOf(ranges)}]`, "gu");

const emoji: [number, number][] = [
  [0xa9, 0xa9],
  [0xae, 0xae],
  [0x203c, 0x203c],
  [0x2049, 0x2049],
  [0x2122, 0x2122],
  [0x2139, 0x2139],
  [0x2190, 0x2bff],
  [0x3030, 0x3030],
  [0x303d, 0x303d],
  [0x3297, 0x3297],
  [0x3299, 0x3299],
  [0x1f000, 0x1faff],
];

const zero_width_joiner = 0x200d;
const text_style = 0xfe0e;
const picture_style = 0xfe0f;
const carriage_return = 0x0d;
/** A picture, with a colour of skin or the wish to be shown as one behind it. */
const endsWithEmoji = new RegExp(`[${classOf(emoji)}]$`, "u");
const endsWithChanged = new RegExp(`[${classOf(emoji)}][\\u{1F3FB}-\\u{1F3FF}\\uFE0F]*$`, "u");
const startsWithEmoji = new RegExp(`^[${classOf(emoji)}]`, "u");
const endsWithKey = /[0-9#*]$/;
const keycap = "\u20e3";
/** As much of the text as can matter to one character of it. */
export const context_units = 8;

/** Whether it does what it is for, as in an emoji or at the end of a line; then nothing of the text is hidden by it. */
function isInPlace(code: number, before: string, after: string): boolean {
  switch (code) {
    case carriage_return:
      return after === "" || after.startsWith("\n");
    case zero_width_joiner:
      return endsWithChanged.test(before) && (after === "" || startsWithEmoji.test(after));
    case text_style:
    case picture_style:
      return endsWithEmoji.test(before) || (endsWithKey.test(before) && after.startsWith(keycap));
    default:
      return false;
  }
}

function nameOf(code: number): string {
  if (code in names) return names[code] ?? "";
  if (code >= 0xe0000 && code <= 0xe007f) return "TAG CHARACTER";
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef)) return "VARIATION SELECTOR";
  return code < 0xa0 ? "CONTROL CHARACTER" : "INVISIBLE CHARACTER";
}

/** The text from `from` on, cut at the characters that have to be made visible. */
export function pieces(text: string, from = 0): Piece[] {
  const found: Piece[] = [];
  let start = from;
  hidden.lastIndex = from;
  for (let match = hidden.exec(text); match; match = hidden.exec(text)) {
    const end = match.index + match[0].length;
    const code = match[0].codePointAt(0) ?? 0;
    const before = text.slice(Math.max(0, match.index - context_units), match.index);
    if (isInPlace(code, before, text.slice(end, end + context_units))) continue;
    if (match.index > start) found.push(text.slice(start, match.index));
    found.push({ mark: `⟨U+${hex(code)}⟩`, name: `U+${hex(code)} ${nameOf(code)}` });
    start = end;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}

/** The same as one text, for labels, titles and choices. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => (typeof piece === "string" ? piece : piece.mark))
    .join("");
}
