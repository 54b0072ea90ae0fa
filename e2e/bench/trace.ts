// What a real browser says of a page: its tasks from its own trace, its heap after a collection.

import type { Browser, CDPSession, Page } from "@playwright/test";

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number;
  /** Of that, on a core. */
  tdur?: number;
  args?: { name?: string };
}

/** The longest task on the main thread of any page while `run` ran, in ms, how much of it was spent on a core (the rest it waited
 * for one, on a machine that has others to serve), and how many took over 100 ms. */
export async function tasksDuring(browser: Browser, page: Page, run: () => Promise<void>) {
  const categories = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "__metadata"];
  await browser.startTracing(page, { categories });
  await run();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => name.endsWith("RunTask") && ph === "X" && mains.has(`${pid}/${tid}`),
  );
  const took_ms = tasks.map(({ dur = 0 }) => dur / 1_000);
  const most = (of_ms: number[]) => of_ms.reduce((longest, ms) => Math.max(longest, ms), 0);
  return {
    longest_ms: most(took_ms),
    longest_cpu_ms: most(tasks.map(({ tdur = 0 }) => tdur / 1_000)),
    long: took_ms.filter((ms) => ms > 100).length,
    count: took_ms.length,
  };
}

export async function heapMb(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}
