// Finds in what a login prints the parts that a person needs: addresses to open and codes to type.

export type Piece = { type: "text" | "link" | "code"; text: string };

/** An address, without the mark that ends its sentence; or a code like ABCD-1234. */
const found = /(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]])|\b([A-Z0-9]{4}-[A-Z0-9]{4})\b/g;

export function readPieces(output: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of output.matchAll(found)) {
    if (match.index > from) pieces.push({ type: "text", text: output.slice(from, match.index) });
    pieces.push({ type: match[1] === undefined ? "code" : "link", text: match[0] });
    from = match.index + match[0].length;
  }
  if (from < output.length) pieces.push({ type: "text", text: output.slice(from) });
  return pieces;
}

/** How it ended, by its last line; null if it did not say. */
export function readOutcome(output: string): "finished" | "failed" | null {
  const last = output.trimEnd().split("\n").at(-1)?.trim();
  if (last === "login finished") return "finished";
  return last === "login failed" ? "failed" : null;
}
