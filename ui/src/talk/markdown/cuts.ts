// Where a long text can be cut, so that no piece of it costs more than a moment to read and to draw.

/** From here on a piece ends at the next place between two blocks, */
const soft_units = 12_000;
/** and from here on at the next line, whatever that is in. */
const hard_units = 32_000;

export interface Cut {
  /** Where the piece begins in the text. */
  at: number;
  /** Opens the code block once more that the cut went through. */
  prefix: string;
}

interface Fence {
  mark: string;
  line: string;
}

const fence_mark = /^ {0,3}(`{3,}|~{3,})/;

export class Cutter {
  private from = 0;
  private at = 0;
  private pending = "";
  private afterBlank = true;
  private fence: Fence | null = null;

  /** Takes what has come behind the last, and says where new pieces begin. */
  add(fresh: string): Cut[] {
    const cuts: Cut[] = [];
    const text = this.pending + fresh;
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.line(text.slice(start, end), cuts);
      this.at += end + 1 - start;
      start = end + 1;
    }
    this.pending = text.slice(start);
    if (this.pending.length > hard_units) {
      // A line without an end.
      if (this.at > this.from) this.cut(cuts);
      this.at += this.pending.length;
      this.pending = "";
      this.cut(cuts);
    }
    return cuts;
  }

  private line(line: string, cuts: Cut[]): void {
    const length = this.at - this.from;
    const isBetween = this.fence === null && this.afterBlank && /^\S/.test(line);
    if (length >= hard_units || (length >= soft_units && isBetween)) this.cut(cuts);
    const mark = fence_mark.exec(line)?.[1];
    if (this.fence === null) {
      if (mark) this.fence = { mark, line: `${line}\n` };
    } else if (mark?.startsWith(this.fence.mark) && line.trim() === mark) this.fence = null;
    this.afterBlank = line.trim() === "";
  }

  private cut(cuts: Cut[]): void {
    this.from = this.at;
    cuts.push({ at: this.at, prefix: this.fence?.line ?? "" });
  }
}
