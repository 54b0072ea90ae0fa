// What a tool call of an agent's prints, as it grows. Only its end is kept, cut where the server cuts what it stores,
// so that a page that was there all along shows what a later one is given.

import { append, newText, type TextStream, wholeText } from "./text";

const max_bytes = 64 * 1024;
const kept_bytes = 48 * 1024;
const cut_note = "… (the beginning was cut)\n";

export interface Output {
  text: TextStream;
  /** Of what is kept, in UTF-8. */
  bytes: number;
  /** Of all that came, in UTF-16 code units: where the next piece begins. */
  length: number;
}

const encoder = new TextEncoder();
const byteLength = (content: string) => encoder.encode(content).length;

export function newOutput(version: number, content = "", length = content.length): Output {
  return { text: newText(version, content), bytes: byteLength(content), length };
}

/** Appends what is new of a piece. One behind a hole goes to the end all the same: what is missing will not come. */
export function addOutput(output: Output, offset: number, content: string): void {
  const fresh = content.slice(Math.max(0, output.length - offset));
  output.length = Math.max(output.length, offset + content.length);
  append(output.text, fresh);
  output.bytes += byteLength(fresh);
  if (output.bytes <= max_bytes) return;
  const kept = cut_note + lastBytes(wholeText(output.text), kept_bytes - byteLength(cut_note));
  output.text = newText(output.text.version + 1, kept);
  output.bytes = byteLength(kept);
}

/** The end of a text, at most so long, beginning with a whole character. */
function lastBytes(text: string, most: number): string {
  const bytes = encoder.encode(text);
  let from = Math.max(0, bytes.length - most);
  while (((bytes[from] ?? 0) & 0b1100_0000) === 0b1000_0000) from += 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from));
}
