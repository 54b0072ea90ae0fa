// The last block of a text that is still being written, with what it has opened closed: nobody reads half a mark.

/** Only of the last line: what an earlier one left open is meant so. */
export function mend(block: string): string {
  const from = block.lastIndexOf("\n") + 1;
  const head = block.slice(0, from);
  let line = block.slice(from);
  const ticks = line.split("`").length - 1;
  if (ticks % 2 === 1) return line.endsWith("`") ? head + line.slice(0, -1) : `${head}${line}\``;
  // A link whose address is still coming is its text so far.
  line = line.replace(/!?\[([^\]]*)\]\([^)\s]*$/, "$1").replace(/!?\[([^\]]*)\]?$/, "$1");
  for (const mark of ["**", "~~"]) {
    if (line.split(mark).length % 2 === 1) continue;
    line = line.endsWith(mark) ? line.slice(0, -mark.length) : line.replace(/\*$/, "") + mark;
  }
  return head + line;
}
