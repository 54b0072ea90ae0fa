// The layers of a graph: which item is in which, in what order, and how far from the side.

export interface Item {
  id: string;
  /** How much room it takes beside and behind others. */
  across: number;
  along: number;
  /** Its middle. */
  at: number;
  depth: number;
  rank: number;
}

export interface Link {
  from: string;
  to: string;
  /** Its words, which want room too. */
  across: number;
  along: number;
  /** Where it goes past the items between its ends, from its beginning on. */
  bends: [at: number, depth: number][];
  labelAt: [at: number, depth: number] | null;
}

interface Node {
  item: Item;
  isBend: boolean;
  before: Node[];
  behind: Node[];
}

interface Way {
  link: Link;
  nodes: Node[];
  isTurned: boolean;
}

const gap_px = 32;
const bend_gap_px = 14;
const layer_gap_px = 52;
const rounds = 8;
/** A line that goes straight is worth more than a box right below another. */
const bend_weight = 6;
/** Beyond it lines go straight, whatever is in their way. */
const most_bends = 2_500;

export function layered(items: Item[], links: Link[]): { across: number; along: number } {
  if (items.length === 0) return { across: 0, along: 0 };
  const ranks = ranksOf(items, links);
  const pairs = new Set(links.map(({ from, to }) => [from, to].sort().join("\n")));
  // Words, and several lines between the same two, stand in layers of their own.
  const step = links.some(({ along }) => along > 0) || pairs.size < links.length ? 2 : 1;
  const nodes = new Map(items.map((item) => [item.id, { item, isBend: false, before: [], behind: [] } as Node]));
  for (const { item } of nodes.values()) item.rank = (ranks.get(item.id) ?? 0) * step;
  const layers: Node[][] = [];
  const put = (node: Node) => {
    const layer = layers[node.item.rank] ?? [];
    layers[node.item.rank] = layer;
    layer.push(node);
  };
  nodes.forEach(put);
  const ways = waysOf(nodes, links, put);
  for (let rank = 0; rank < layers.length; rank++) layers[rank] ??= [];
  order(layers);
  place(layers);
  const along = deepen(layers, layer_gap_px / step);
  for (const way of ways) trace(way, layers);
  const all = layers.flat();
  const left = Math.min(...all.map(({ item }) => item.at - item.across / 2));
  for (const { item } of all) item.at -= left;
  for (const link of links) {
    link.bends = link.bends.map(([at, depth]) => [at - left, depth]);
    link.labelAt = link.labelAt && [link.labelAt[0] - left, link.labelAt[1]];
  }
  return { across: Math.max(...all.map(({ item }) => item.at + item.across / 2)), along };
}

/** How far each is from the beginning; what leads back does not count. */
function ranksOf(items: Item[], links: Link[]): Map<string, number> {
  const next = new Map<string, string[]>(items.map(({ id }) => [id, []]));
  for (const { from, to } of links) if (from !== to) next.get(from)?.push(to);
  const order: string[] = [];
  const state = new Map<string, "open" | "done">();
  const back = new Set<string>();
  for (const { id: start } of items) {
    if (state.has(start)) continue;
    const stack = [{ id: start, at: 0 }];
    state.set(start, "open");
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const to = next.get(top.id)?.[top.at];
      top.at += 1;
      if (to === undefined) {
        state.set(top.id, "done");
        order.push(top.id);
        stack.pop();
      } else if (state.get(to) === "open") back.add(`${top.id}\n${to}`);
      else if (!state.has(to)) {
        state.set(to, "open");
        stack.push({ id: to, at: 0 });
      }
    }
  }
  const rank = new Map(items.map(({ id }) => [id, 0]));
  for (const id of order.reverse()) {
    for (const to of next.get(id) ?? [])
      if (!back.has(`${id}\n${to}`)) rank.set(to, Math.max(rank.get(to) ?? 0, (rank.get(id) ?? 0) + 1));
  }
  return rank;
}

/** A bend of each link in each layer between its ends; the words are at the middle one. */
function waysOf(nodes: Map<string, Node>, links: Link[], put: (node: Node) => void): Way[] {
  const spans = links.map(({ from, to }) => {
    const [a, b] = [nodes.get(from)?.item.rank ?? 0, nodes.get(to)?.item.rank ?? 0];
    return { from: Math.min(a, b), to: Math.max(a, b), isTurned: a > b };
  });
  const count = spans.reduce((sum, { from, to }) => sum + Math.max(0, to - from - 1), 0);
  const ways: Way[] = [];
  for (const [index, link] of links.entries()) {
    const { from, to, isTurned } = spans[index] as (typeof spans)[number];
    const [first, last] = [nodes.get(isTurned ? link.to : link.from), nodes.get(isTurned ? link.from : link.to)];
    if (!first || !last || first === last) continue;
    const chain = [first];
    for (let rank = from + 1; rank < to && count <= most_bends; rank++) {
      const isMiddle = rank === Math.floor((from + to) / 2);
      const [across, along] = isMiddle ? [link.across, link.along] : [0, 0];
      const node: Node = {
        item: { id: "", across, along, at: 0, depth: 0, rank },
        isBend: true,
        before: [],
        behind: [],
      };
      put(node);
      chain.push(node);
    }
    chain.push(last);
    for (let at = 1; at < chain.length; at++) {
      const [one, other] = [chain[at - 1] as Node, chain[at] as Node];
      one.behind.push(other);
      other.before.push(one);
    }
    ways.push({ link, nodes: chain, isTurned });
  }
  return ways;
}

/** Each near what it belongs to. Of all orders that were tried, the one in which the fewest lines cross. */
function order(layers: Node[][]): void {
  const index = new Map<Node, number>();
  const note = () => {
    for (const layer of layers) for (const [at, node] of layer.entries()) index.set(node, at);
  };
  note();
  let best = layers.map((layer) => [...layer]);
  let fewest = crossings(layers, index);
  for (let round = 0; round < rounds && fewest > 0; round++) {
    const isDown = round % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const weights = new Map(
        layer.map((node, at) => {
          const near = isDown ? node.before : node.behind;
          const sum = near.reduce((total, other) => total + (index.get(other) ?? 0), 0);
          return [node, near.length === 0 ? at : sum / near.length];
        }),
      );
      layer.sort((one, other) => (weights.get(one) ?? 0) - (weights.get(other) ?? 0));
      for (const [at, node] of layer.entries()) index.set(node, at);
    }
    const count = crossings(layers, index);
    if (count < fewest) [best, fewest] = [layers.map((layer) => [...layer]), count];
  }
  for (const [at, layer] of best.entries()) layers[at] = layer;
}

function crossings(layers: Node[][], index: Map<Node, number>): number {
  let count = 0;
  for (const layer of layers) {
    const ends = layer.flatMap((node) =>
      node.behind.map((other) => index.get(other) ?? 0).sort((one, other) => one - other),
    );
    // Lines of one item do not cross each other: their ends are in order.
    const seen: number[] = [];
    for (const end of ends) {
      let at = seen.length;
      while (at > 0 && (seen[at - 1] ?? 0) > end) at -= 1;
      count += seen.length - at;
      seen.splice(at, 0, end);
    }
  }
  return count;
}

const gapOf = (one: Node, other: Node) => (one.isBend || other.isBend ? bend_gap_px : gap_px);

/** As near to what each belongs to as the others of its layer let it. */
function place(layers: Node[][]): void {
  for (const layer of layers) {
    let at = 0;
    for (const [index, node] of layer.entries()) {
      const before = layer[index - 1];
      if (before) at += before.item.across / 2 + gapOf(before, node) + node.item.across / 2;
      node.item.at = at;
    }
    for (const { item } of layer) item.at -= at / 2;
  }
  for (let round = 0; round < 2 * rounds; round++) {
    const isLast = round >= 2 * rounds - 2;
    const isDown = round % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const wanted = layer.map((node) => {
        const near = isLast ? [...node.before, ...node.behind] : isDown ? node.before : node.behind;
        return near.length === 0 ? node.item.at : middleOf(near.map(({ item }) => item.at));
      });
      settle(layer, wanted);
    }
  }
}

function middleOf(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2;
}

/** Puts each where it is wanted; those that would lie over each other share the middle of what they want. */
function settle(layer: Node[], wanted: number[]): void {
  let offset = 0;
  const blocks: { sum: number; weight: number; nodes: { node: Node; offset: number }[] }[] = [];
  for (const [index, node] of layer.entries()) {
    const before = layer[index - 1];
    if (before) offset += before.item.across / 2 + gapOf(before, node) + node.item.across / 2;
    const weight = node.isBend ? bend_weight : 1;
    blocks.push({ sum: ((wanted[index] ?? 0) - offset) * weight, weight, nodes: [{ node, offset }] });
    for (let last = blocks.at(-1), other = blocks.at(-2); last && other; last = blocks.at(-1), other = blocks.at(-2)) {
      if (other.sum / other.weight <= last.sum / last.weight) break;
      other.sum += last.sum;
      other.weight += last.weight;
      other.nodes.push(...last.nodes);
      blocks.pop();
    }
  }
  for (const { sum, weight, nodes } of blocks)
    for (const { node, offset } of nodes) node.item.at = sum / weight + offset;
}

/** How deep they go all in all. */
function deepen(layers: Node[][], gap: number): number {
  let depth = 0;
  for (const layer of layers) {
    const along = layer.reduce((most, { item }) => Math.max(most, item.along), 0);
    for (const { item } of layer) item.depth = depth + along / 2;
    depth += along + gap;
  }
  return depth - gap;
}

/** A line passes a layer straight, so that it touches nothing of it. */
function trace({ link, nodes, isTurned }: Way, layers: Node[][]): void {
  const bends = nodes.slice(1, -1).flatMap(({ item }): [number, number][] => {
    const half = (layers[item.rank] ?? []).reduce((most, other) => Math.max(most, other.item.along), 0) / 2;
    if (item.across > 0) link.labelAt = [item.at, item.depth];
    return half === 0
      ? [[item.at, item.depth]]
      : [
          [item.at, item.depth - half],
          [item.at, item.depth + half],
        ];
  });
  link.bends = isTurned ? bends.reverse() : bends;
}
