// Gantt charts, as Mermaid writes them: tasks one below the other, each from its beginning to its end.

import {
  type Area,
  framed,
  type Line,
  NotDrawn,
  type Picture,
  tooMany,
  unquoted,
  type Words,
  widthOf,
} from "./picture";

const most_tasks = 100;
const row_px = 28;
const bar_px = 18;
const chart_px = 520;
const longest_name = 48;
const day_ms = 86_400_000;
const units: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: day_ms,
  w: 7 * day_ms,
  M: 30 * day_ms,
  y: 365 * day_ms,
};
const settings =
  /^(?:axisFormat|excludes|includes|todayMarker|tickInterval|weekday|weekend|inclusiveEndDates|topAxis|displayMode|click|accTitle|accDescr)\b/i;
const marks: Record<string, string> = { done: "done", active: "active", crit: "critical", milestone: "milestone" };

interface Task {
  name: string;
  section: number;
  from: number;
  to: number;
  marks: string[];
}

export function gantt(lines: string[]): Picture {
  const reader = new GanttReader();
  for (const line of lines) reader.read(line.trim());
  return reader.finish();
}

class GanttReader {
  private title = "";
  private readonly sections: string[] = [""];
  private readonly tasks: Task[] = [];
  private readonly ids = new Map<string, Task>();

  read(line: string): void {
    const title = /^title\s+(.+)$/i.exec(line)?.[1];
    const section = /^section\s+(.+)$/i.exec(line)?.[1];
    const format = /^dateFormat\s+(.+)$/i.exec(line)?.[1];
    if (title) this.title = title;
    else if (section) this.sections.push(unquoted(section).slice(0, longest_name));
    else if (format) {
      if (!/^(?:YYYY-MM-DD|YYYY-MM-DD[ T]HH:mm(?::ss)?|HH:mm(?::ss)?)$/.test(format.trim()))
        throw new NotDrawn(`dates written as “${format.slice(0, 20)}” are not read`);
    } else if (!settings.test(line)) this.task(line);
  }

  private task(line: string): void {
    const [, name = "", rest = ""] = /^([^:]+):(.*)$/.exec(line) ?? [];
    if (name === "") throw new NotDrawn(`a task is expected at “${line.slice(0, 20)}”`);
    const fields = rest.split(",").map((field) => field.trim());
    const own = fields.filter((field) => field in marks);
    const others = fields.filter((field) => !(field in marks));
    const length = others.pop() ?? "";
    const last = this.tasks.at(-1);
    const begin = others.pop();
    let id = others.pop();
    let from = begin === undefined ? last?.to : this.time(begin);
    // With two fields the first may be its name.
    if (begin !== undefined && from === undefined && id === undefined) [id, from] = [begin, last?.to];
    if (from === undefined) throw new NotDrawn(`it does not say when “${name.trim().slice(0, 20)}” begins`);
    const to = this.end(length, from);
    if (to === undefined) throw new NotDrawn(`it does not say how long “${name.trim().slice(0, 20)}” takes`);
    const section = this.sections.length - 1;
    const task = { name: unquoted(name).slice(0, longest_name), section, from, to: Math.max(from, to), marks: own };
    this.tasks.push(task);
    if (id) this.ids.set(id, task);
    if (this.tasks.length > most_tasks) throw tooMany();
  }

  private time(text: string): number | undefined {
    const after = /^after\s+(.+)$/.exec(text)?.[1];
    if (after) {
      const ends = after.split(/\s+/).flatMap((id) => this.ids.get(id)?.to ?? []);
      return ends.length > 0 ? Math.max(...ends) : undefined;
    }
    const hour = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
    if (hour) return Number(hour[1]) * 3_600_000 + Number(hour[2]) * 60_000 + Number(hour[3] ?? 0) * 1_000;
    const day = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?))?$/.exec(text);
    const time = day ? Date.parse(`${day[1]}T${day[2] ?? "00:00"}Z`) : Number.NaN;
    return Number.isNaN(time) ? undefined : time;
  }

  private end(text: string, from: number): number | undefined {
    const length = /^(\d{1,6}(?:\.\d{1,3})?)(ms|[smhdwMy])$/.exec(text);
    if (length) return from + Number(length[1]) * (units[length[2] ?? ""] ?? 0);
    const until = /^until\s+(\S+)$/.exec(text)?.[1];
    return until ? this.ids.get(until)?.from : this.time(text);
  }

  finish(): Picture {
    const { tasks } = this;
    if (tasks.length === 0) throw new NotDrawn("it is empty");
    const [from, to] = [Math.min(...tasks.map((task) => task.from)), Math.max(...tasks.map((task) => task.to))];
    const at = (time: number) => (to === from ? 0 : ((time - from) / (to - from)) * chart_px);
    const areas: Area[] = [];
    const words: Words[] = [];
    const side = Math.max(...tasks.map(({ name }) => widthOf(name))) + 20;
    let y = 0;
    let section = -1;
    for (const task of tasks) {
      const heading = this.sections[task.section] ?? "";
      if (task.section !== section && heading !== "") {
        words.push({ text: heading, at: [-side, y + row_px / 2], align: "start", kind: "strong" });
        y += row_px;
      }
      section = task.section;
      const [begin, end] = [at(task.from), at(task.to)];
      const isMilestone = task.marks.includes("milestone");
      const width = isMilestone ? 6 : Math.max(3, end - begin);
      areas.push({ x: begin, y: y + (row_px - bar_px) / 2, width, height: bar_px, tone: task.section });
      words.push({ text: task.name, at: [-12, y + row_px / 2], align: "end", kind: "text" });
      const text = [this.span(task, to - from), ...task.marks.map((mark) => marks[mark])].join(" · ");
      words.push({ text, at: [begin + width + 8, y + row_px / 2], align: "start", kind: "small" });
      y += row_px;
    }
    const lines = [0, 1, 2, 3, 4].map((part): Line => {
      const x = (part / 4) * chart_px;
      const time = from + ((to - from) * part) / 4;
      words.push({ text: dateText(time, to - from), at: [x, -14], align: "middle", kind: "small" });
      const points: [number, number][] = [
        [x, 0],
        [x, y],
      ];
      return { points, label: "", at: [0, 0], dashed: true, ends: ["none", "none"] };
    });
    return { ...framed({ boxes: [], lines, areas, words }), title: this.title };
  }

  private span({ from, to, marks }: Task, whole: number): string {
    if (marks.includes("milestone")) return dateText(from, whole);
    const [unit, name] = whole > 2 * day_ms ? [day_ms, "d"] : whole > 7_200_000 ? [3_600_000, "h"] : [60_000, "min"];
    return `${Math.round(((to - from) / unit) * 10) / 10} ${name}`;
  }
}

function dateText(time: number, whole: number): string {
  const text = new Date(time).toISOString();
  return whole > 2 * day_ms ? text.slice(0, 10) : text.slice(11, 16);
}
