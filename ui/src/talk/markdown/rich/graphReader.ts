// What diagrams of boxes have in common: groups that begin and end, and a bound for each kind of part.

import { type Edge, type Graph, newGraph } from "./layers";
import { type Box, labelled, most_boxes, most_lines, NotDrawn, sized, tooMany } from "./picture";

export class GraphReader {
  readonly graph: Graph = newGraph("TB");
  protected readonly open: string[] = [];

  /** Reads the direction of what is open; whether it was one. */
  protected turn(statement: string): boolean {
    const direction = /^direction\s+(TB|TD|BT|LR|RL)$/i.exec(statement)?.[1]?.toUpperCase();
    const group = this.graph.groups.get(this.open.at(-1) ?? "");
    if (direction && group) group.direction = direction;
    else if (direction) this.graph.direction = direction;
    return direction !== undefined;
  }

  protected begin(id: string, label: string): void {
    const parent = this.open.at(-1) ?? null;
    if (!this.graph.groups.has(id)) this.graph.groups.set(id, { label: labelled(label), parent, direction: null });
    this.open.push(id);
    if (this.graph.groups.size > most_boxes) throw tooMany();
  }

  /** Where it is first named in a group, it belongs to that. */
  protected belong(id: string): void {
    const group = this.open.at(-1);
    const { memberOf, groups } = this.graph;
    if (group !== undefined && !memberOf.has(id) && !groups.has(id)) memberOf.set(id, group);
  }

  protected put(id: string, box: () => Box): void {
    this.belong(id);
    if (!this.graph.boxes.has(id)) this.graph.boxes.set(id, box());
    if (this.graph.boxes.size > most_boxes) throw tooMany();
  }

  /** A box of words that belongs to another. */
  protected note(lines: string[], of: string | null): void {
    const id = `note ${this.graph.boxes.size}`;
    const group = of === null ? undefined : this.graph.memberOf.get(of);
    if (group !== undefined) this.graph.memberOf.set(id, group);
    this.put(id, () => sized(lines, "note"));
    if (of !== null) this.join({ from: of, to: id, label: "", dashed: true, ends: ["none", "none"] });
  }

  protected join(edge: Edge): void {
    this.graph.edges.push(edge);
    if (this.graph.edges.length > most_lines) throw tooMany();
  }

  protected drawn(): Graph {
    if (this.graph.boxes.size === 0) throw new NotDrawn("it is empty");
    return this.graph;
  }
}
