// A text that only grows, kept in pieces so that growing costs as much as the piece, not as the text.

export interface TextStream {
  chunks: string[];
  /** In UTF-16 code units, like the offsets of the stream. */
  length: number;
  /** Differs between texts that were built anew; the view then draws from the start. */
  version: number;
}

export function newText(version: number, content = ""): TextStream {
  return { chunks: content === "" ? [] : [content], length: content.length, version };
}

/** What of a piece at `offset` is new to a text of `length`; null if something before it is missing. */
export function unseen(length: number, offset: number, content: string): string | null {
  if (offset > length) return null;
  return content.slice(length - offset);
}

export function append(text: TextStream, content: string): void {
  if (content === "") return;
  text.chunks.push(content);
  text.length += content.length;
}

export function wholeText(text: TextStream): string {
  return text.chunks.join("");
}

/** The text from `offset` on; costs as much as what it returns. */
export function textFrom(text: TextStream, offset: number): string {
  let missing = text.length - offset;
  const tail: string[] = [];
  for (let index = text.chunks.length - 1; index >= 0 && missing > 0; index--) {
    const chunk = text.chunks[index] ?? "";
    tail.unshift(chunk.length > missing ? chunk.slice(chunk.length - missing) : chunk);
    missing -= chunk.length;
  }
  return tail.join("");
}
