// Where in the work directory a piece of text points: a path, and perhaps a line.

export interface Place {
  path: string;
  line: number | null;
}

const longest_units = 300;
/** `src/lib.rs:3`, `src/lib.rs:3:14`, `src/lib.rs:3-9`, `src/lib.rs#L3`. */
const line_pattern = /(?::(\d{1,7})(?:[:-]\d+)?|#L(\d{1,7})(?:-L?\d+)?)$/;
/** Files that people know without an ending. */
const bare_name = /^(?:[A-Z][A-Za-z]+|[a-z]+file)$/;
/** A sentence may go on right behind a path. */
const trailing = /[.,;:!?)\]}'"…]+$/;
const leading = /^[([{'"]+/;

/** In the address of the page. Slashes stay readable. */
export function fileHref(session: string, { path, line }: Place): string {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `#/sessions/${session}/files/${encoded}${line === null ? "" : `:${line}`}`;
}

/** Null for what is certainly no path. Whether there is such a file, only the server knows. */
export function placeIn(text: string): Place | null {
  if (text.length > longest_units || text.includes("://") || /[\s`<>|*?\\]/.test(text)) return null;
  const [suffix = "", colon, hash] = line_pattern.exec(text) ?? [];
  const path = text.slice(0, text.length - suffix.length);
  const name = path.split("/").at(-1) ?? "";
  const isPath = name !== "" && (path.includes("/") || /\w\.[A-Za-z]\w{0,9}$/.test(name) || /^\.[a-z]/.test(name));
  if (!isPath && !bare_name.test(name)) return null;
  const number = Number(colon ?? hash ?? 0);
  return { path, line: number > 0 ? number : null };
}

export interface Found extends Place {
  /** Where in the text it stands. */
  from: number;
  to: number;
}

/** The paths in a sentence. Names without a slash or an ending are words there. */
export function placesIn(text: string): Found[] {
  const found: Found[] = [];
  for (const match of text.matchAll(/\S+/g)) {
    const before = leading.exec(match[0])?.[0].length ?? 0;
    const word = match[0].slice(before).replace(trailing, "");
    const place = placeIn(word);
    if (!place || !/[./]/.test(place.path)) continue;
    const from = match.index + before;
    found.push({ ...place, from, to: from + word.length });
  }
  return found;
}
