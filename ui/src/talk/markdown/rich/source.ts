// The text of a diagram, without what only says how it should look.

/** Longer texts are no diagrams that anybody wrote. */
export const longest_source = 20_000;

export interface Source {
  lines: string[];
  title: string;
}

export function readSource(text: string): Source {
  const front = /^\s*---[ \t]*\n([\s\S]*?)\n[ \t]*---[ \t]*(?:\n|$)/.exec(text);
  const title = /^\s*title:\s*(.+)$/m.exec(front?.[1] ?? "")?.[1] ?? "";
  const lines = text
    .slice(front?.[0].length ?? 0)
    .replace(/%%\{[\s\S]*?\}%%/g, "")
    .replace(/^[ \t]*accDescr\s*\{[^}]*\}/gm, "")
    .split("\n")
    .map((line) => line.replace(/\s+$/, ""))
    .filter((line) => line.trim() !== "" && !/^\s*%%/.test(line));
  return { lines, title: title.trim() };
}

/** Cut at the ends of lines and at semicolons, but never within quotes. */
export function statementsOf(lines: string[]): string[] {
  const statements: string[] = [];
  let begun = "";
  let isQuoted = false;
  const end = () => {
    if (begun.trim() !== "") statements.push(begun.trim());
    begun = "";
  };
  for (const letter of lines.join("\n")) {
    if (letter === '"') isQuoted = !isQuoted;
    // An escape ends with a semicolon too.
    const isEnd = letter === "\n" || (letter === ";" && !/[&#][\w#]{1,7}$/.test(begun.slice(-8)));
    if (isEnd && !isQuoted) end();
    else begun += letter;
  }
  end();
  return statements;
}
