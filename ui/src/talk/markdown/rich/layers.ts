// Where boxes stand that lead to each other: in layers, each below what leads to it, with room for the lines and their words between.
// Boxes that belong together are laid out by themselves, and then as one.

import { type Item, type Link, layered } from "./order";
import {
  type Box,
  type Frame,
  framed,
  type Head,
  type Line,
  line_px,
  most_nesting,
  NotDrawn,
  type Picture,
  type Point,
  sizeOf,
  widthOf,
} from "./picture";

export interface Edge {
  from: string;
  to: string;
  label: string;
  dashed: boolean;
  ends: [Head, Head];
  counts?: [string, string];
  /** It only says what stands below what. */
  isHidden?: boolean;
}

export interface Group {
  label: string;
  /** The group that it is in. */
  parent: string | null;
  direction: string | null;
}

export interface Graph {
  boxes: Map<string, Box>;
  edges: Edge[];
  direction: string;
  groups: Map<string, Group>;
  /** The group of a box that is in one. */
  memberOf: Map<string, string>;
}

export const newGraph = (direction: string): Graph => ({
  boxes: new Map(),
  edges: [],
  direction,
  groups: new Map(),
  memberOf: new Map(),
});

interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Route {
  edge: Edge;
  /** The group whose layout it is part of. */
  group: string | null;
  bends: Point[];
  labelAt: Point | null;
}

const padding_px = 16;

export function arranged(graph: Graph): Picture {
  const { boxes, groups, edges } = graph;
  // What leads to a group may have named it before it began.
  for (const id of groups.keys()) boxes.delete(id);
  const parentOf = (id: string) => (groups.has(id) ? groups.get(id)?.parent : graph.memberOf.get(id)) ?? null;
  const pathOf = (id: string): (string | null)[] => {
    const path: (string | null)[] = [id];
    for (let at = parentOf(id); at !== null; at = parentOf(at)) {
      if (path.length > most_nesting) throw new NotDrawn("it is nested too deeply");
      path.push(at);
    }
    return [...path, null].reverse();
  };
  const members = new Map<string | null, string[]>();
  for (const id of [...boxes.keys(), ...groups.keys()]) {
    const parent = pathOf(id).at(-2) ?? null;
    members.set(parent, [...(members.get(parent) ?? []), id]);
  }
  const routes = new Map<string | null, Route[]>();
  const ends = new Map<Edge, [string, string]>();
  for (const edge of edges) {
    const [from, to] = [pathOf(edge.from), pathOf(edge.to)];
    let common = 0;
    while (common + 1 < Math.min(from.length, to.length) && from[common + 1] === to[common + 1]) common += 1;
    if (edge.from !== edge.to && (from.length === common + 1 || to.length === common + 1)) continue;
    const group = from[Math.min(common, from.length - 2)] ?? null;
    ends.set(edge, [from[common + 1] ?? edge.from, to[common + 1] ?? edge.to]);
    routes.set(group, [...(routes.get(group) ?? []), { edge, group, bends: [], labelAt: null }]);
  }

  const places = new Map<string, Place>();
  /** Places its members from its own corner on; how large it is. */
  const lay = (group: string | null, outer: string): { width: number; height: number } => {
    const direction = (group === null ? null : groups.get(group)?.direction) ?? outer;
    const isSide = direction === "LR" || direction === "RL";
    const own = members.get(group) ?? [];
    const items = own.map((id): Item => {
      const box = boxes.get(id);
      const { width, height } = box ?? lay(id, direction);
      places.set(id, { x: 0, y: 0, width, height });
      return { id, across: isSide ? height : width, along: isSide ? width : height, at: 0, depth: 0, rank: 0 };
    });
    const ways = (routes.get(group) ?? []).filter(({ edge }) => edge.from !== edge.to);
    const links = ways.map(({ edge }): Link => {
      const [from, to] = ends.get(edge) ?? ["", ""];
      const { width, height } = sizeOf(edge.label);
      const [across, along] = edge.label === "" ? [0, 0] : isSide ? [height, width] : [width, height];
      return { from, to, across, along, bends: [], labelAt: null };
    });
    const { across, along } = layered(items, links);
    const turned = ([at, depth]: [number, number]): Point => {
      const way = direction === "BT" || direction === "RL" ? along - depth : depth;
      return isSide ? [way, at] : [at, way];
    };
    for (const item of items) {
      const place = places.get(item.id) as Place;
      const [x, y] = turned([item.at, item.depth]);
      [place.x, place.y] = [x - place.width / 2, y - place.height / 2];
    }
    for (const [index, way] of ways.entries()) {
      const link = links[index] as Link;
      way.bends = link.bends.map(turned);
      way.labelAt = link.labelAt && turned(link.labelAt);
    }
    const [width, height] = isSide ? [along, across] : [across, along];
    if (group === null) return { width, height };
    const head = headOf(groups.get(group)?.label ?? "");
    const shift = (head.width - width) / 2;
    const dx = padding_px + Math.max(0, shift);
    const dy = padding_px + head.height;
    for (const id of own) {
      const place = places.get(id) as Place;
      place.x += dx;
      place.y += dy;
    }
    for (const way of routes.get(group) ?? []) {
      way.bends = way.bends.map(([x, y]) => [x + dx, y + dy]);
      way.labelAt = way.labelAt && [way.labelAt[0] + dx, way.labelAt[1] + dy];
    }
    return { width: Math.max(width, head.width) + 2 * padding_px, height: height + head.height + 2 * padding_px };
  };
  lay(null, graph.direction);

  const corner = (group: string | null): Point => {
    let [x, y] = [0, 0];
    for (let at = group; at !== null; at = parentOf(at)) {
      x += places.get(at)?.x ?? 0;
      y += places.get(at)?.y ?? 0;
    }
    return [x, y];
  };
  const frames = [...groups].map(([id, { label }]): Frame => {
    const [x, y] = corner(id);
    return { x, y, width: places.get(id)?.width ?? 0, height: places.get(id)?.height ?? 0, label };
  });
  for (const [id, box] of boxes) {
    const [x, y] = corner(parentOf(id));
    box.x = x + (places.get(id)?.x ?? 0);
    box.y = y + (places.get(id)?.y ?? 0);
  }
  const frameOf = new Map([...groups.keys()].map((id, index) => [id, frames[index] as Frame]));
  const outline = (id: string): Box => boxes.get(id) ?? { ...(frameOf.get(id) as Frame), lines: [], shape: "box" };
  const known = new Map([...routes.values()].flat().map((route) => [route.edge, route]));
  const lines = edges.flatMap((edge): Line[] => {
    if (edge.isHidden) return [];
    const { label, dashed, ends, counts } = edge;
    const [from, to] = [outline(edge.from), outline(edge.to)];
    const route = known.get(edge);
    const [dx, dy] = corner(route?.group ?? null);
    const bends = (route?.bends ?? []).map(([x, y]): Point => [x + dx, y + dy]);
    const points = edge.from === edge.to ? loop(from) : joined(from, bends, to);
    const at = route?.labelAt ? ([route.labelAt[0] + dx, route.labelAt[1] + dy] as Point) : middleOf(points, label);
    return [{ points, label, at, dashed, ends, ...(counts && { counts }) }];
  });
  return framed({ boxes: [...boxes.values()], lines, frames });
}

function headOf(label: string): { width: number; height: number } {
  if (label === "") return { width: 0, height: 0 };
  const lines = label.split("\n");
  return { width: Math.max(...lines.map(widthOf)), height: lines.length * line_px };
}

function joined(from: Box, bends: Point[], to: Box): Point[] {
  const [first, last] = [bends[0] ?? middle(to), bends.at(-1) ?? middle(from)];
  return straightened([edgeOf(from, first), ...bends, edgeOf(to, last)]);
}

/** Without the points that it goes straight through. */
function straightened(points: Point[]): Point[] {
  const kept: Point[] = [];
  for (const [index, point] of points.entries()) {
    const [before, next] = [kept.at(-1), points[index + 1]];
    if (before && next) {
      const [ax, ay] = [point[0] - before[0], point[1] - before[1]];
      const [bx, by] = [next[0] - point[0], next[1] - point[1]];
      const length = Math.hypot(ax, ay) * Math.hypot(bx, by);
      if (length === 0 || (Math.abs(ax * by - ay * bx) < 0.01 * length && ax * bx + ay * by > 0)) continue;
    }
    kept.push(point);
  }
  return kept;
}

const middle = ({ x, y, width, height }: Box): Point => [x + width / 2, y + height / 2];

function middleOf(points: Point[], label: string): Point {
  const [a, b] = [points[0] as Point, points.at(-1) as Point];
  // Beside a line that leads back to where it began.
  if (points.length === 4 && a[0] === b[0])
    return [(points[1] as Point)[0] + sizeOf(label).width / 2, (a[1] + b[1]) / 2];
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}

/** Where the way from the middle of a box to a point leaves it. */
function edgeOf(box: Box, [toX, toY]: Point): Point {
  const [x, y] = middle(box);
  const [dx, dy] = [toX - x, toY - y];
  if (dx === 0 && dy === 0) return [x, y];
  const [across, along] = [Math.abs(dx) / (box.width / 2), Math.abs(dy) / (box.height / 2)];
  const isRound = ["circle", "double", "start", "end"].includes(box.shape);
  const scale =
    box.shape === "diamond" ? across + along : isRound ? Math.hypot(across, along) : Math.max(across, along);
  return [x + dx / scale, y + dy / scale];
}

function loop({ x, y, width, height }: Box): Point[] {
  const right = x + width;
  return [
    [right, y + height / 3],
    [right + 24, y + height / 3],
    [right + 24, y + (2 * height) / 3],
    [right, y + (2 * height) / 3],
  ];
}
