// New texts from known ones, by random numbers from a seed: the same seed gives the same texts.

const max_units = 1_500;
const max_mutations = 8;
const max_repeats = 40;

/** SplitMix32. */
export class Random {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x9e3779b9) | 0;
    let mixed = this.state ^ (this.state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }

  below(bound: number): number {
    return bound <= 0 ? 0 : this.next() % bound;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}

export function mutated(random: Random, corpus: readonly string[], words: readonly string[]): string {
  let text = random.pick(corpus);
  for (let count = random.below(max_mutations); count >= 0; count--) {
    text = mutate(random, text, corpus, words);
  }
  return text.slice(0, max_units);
}

function mutate(random: Random, text: string, corpus: readonly string[], words: readonly string[]): string {
  const from = random.below(text.length + 1);
  const to = Math.min(text.length, from + random.below(1 + random.below(40)));
  const [before, range, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  switch (random.below(7)) {
    case 0:
      return before + after;
    case 1:
      return before + range.repeat(1 + random.below(max_repeats)) + after;
    case 2:
      return before + random.pick(words) + after;
    case 3:
      return before + random.pick(words) + range + random.pick(words) + after;
    case 4: {
      const other = random.pick(corpus);
      const start = random.below(other.length);
      return before + other.slice(start, start + random.below(200)) + range + after;
    }
    case 5: {
      const lines = text.split("\n");
      const line = random.below(lines.length);
      lines.splice(random.below(lines.length), 0, ...lines.splice(line, 1 + random.below(3)));
      return lines.join("\n");
    }
    default:
      return before + random.pick(words).repeat(1 + random.below(max_repeats)) + after;
  }
}

/** The text with ever smaller parts left out, for as long as `fails` says so. */
export function minimised(text: string, fails: (text: string) => boolean): string {
  let best = text;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length; ) {
      const candidate = best.slice(0, at) + best.slice(at + size);
      if (fails(candidate)) best = candidate;
      else at += size;
    }
  }
  return best;
}
