// A conversation of 2,000 messages that ends with 5 MB from an agent, in a real browser: how soon it is seen, what its longest
// tasks are while it is scrolled and while text streams into it, and what it keeps. An empty page in the same run stands beside it.

import type { Page } from "@playwright/test";
import { expect, test } from "../harness/test";
import type { Server } from "../harness/server";
import { converse, createSession, say, waitUntil } from "../harness/talk";
import { heapMb, tasksDuring } from "./trace";

const turns = 1_000;
const output_chunks = 5_000;
const output_chunk_bytes = 1_000;

test.use({ setup: { agent: "fast" } });

async function fill(server: Server, id: string): Promise<void> {
  await converse(server, id, turns);
  await say(server, id, `flood ${output_chunks} ${output_chunk_bytes}`);
  await waitUntil(server, id, 0);
}

/** When something was first painted, and when the conversation was there, in ms from the start of the navigation. */
async function open(page: Page, server: Server, id: string, shows: string) {
  await page.goto("about:blank");
  await page.addInitScript((selector) => {
    const seen = new MutationObserver(() => {
      if (!document.querySelector(selector)) return;
      seen.disconnect();
      requestAnimationFrame(() => setTimeout(() => performance.mark("shown")));
    });
    seen.observe(document, { childList: true, subtree: true });
  }, shows);
  await page.goto(`${server.url}/#/sessions/${id}`);
  const marks = ["first-contentful-paint", "shown"];
  await page.waitForFunction((names) => names.every((name) => performance.getEntriesByName(name).length > 0), marks);
  return await page.evaluate(() => ({
    first_paint_ms: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    shown_ms: performance.getEntriesByName("shown")[0]?.startTime ?? 0,
  }));
}

const say_tasks = ({ longest_ms, longest_cpu_ms, long, count }: Awaited<ReturnType<typeof tasksDuring>>) =>
  `longest task ${longest_ms.toFixed(0)} ms (${longest_cpu_ms.toFixed(0)} ms of CPU), ${long} of ${count} over 100 ms`;

test("the page with a long conversation", async ({ cockpit, page, browser, server }) => {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const empty = await createSession(server, "empty");
  const long = await createSession(server, "long");
  await fill(server, long);
  const devtools = await page.context().newCDPSession(page);

  const baseline = await open(page, server, empty, "textarea");
  const empty_heap = await heapMb(devtools);
  print(`empty page: first paint ${baseline.first_paint_ms.toFixed(0)} ms, heap ${empty_heap.toFixed(1)} MB`);

  let opened = { first_paint_ms: 0, shown_ms: 0 };
  const opening = await tasksDuring(browser, page, async () => {
    opened = await open(page, server, long, "[role=log] article, [role=log] .agent-turn");
    await expect(cockpit.log).toHaveAttribute("aria-busy", "false");
  });
  print(
    `${2 * turns} messages and ${(output_chunks * output_chunk_bytes) / 1e6} MB: first paint ` +
      `${opened.first_paint_ms.toFixed(0)} ms, conversation ${opened.shown_ms.toFixed(0)} ms, ${say_tasks(opening)}, ` +
      `heap ${(await heapMb(devtools)).toFixed(1)} MB`,
  );

  const streaming = await tasksDuring(browser, page, async () => {
    await say(server, long, "paced 3000 60 1000");
    await expect(cockpit.log).toHaveAttribute("aria-busy", "true");
    await expect(cockpit.log).toHaveAttribute("aria-busy", "false");
  });
  print(`streaming 3,000 chunks into it: ${say_tasks(streaming)}, heap ${(await heapMb(devtools)).toFixed(1)} MB`);

  await cockpit.log.hover();
  let still = 0;
  const scrolling = await tasksDuring(browser, page, async () => {
    // At the top for a while: there is nothing older to come.
    while (still < 20) {
      await page.mouse.wheel(0, -2_500);
      still = (await cockpit.log.evaluate((log) => log.scrollTop)) === 0 ? still + 1 : 0;
      if (still > 0) await page.waitForTimeout(50);
    }
  });
  print(`scrolling to the first message: ${say_tasks(scrolling)}, heap ${(await heapMb(devtools)).toFixed(1)} MB`);

  await page.getByRole("button", { name: "New", exact: true }).click();
  await say(server, long, "flood 1 20");
  await waitUntil(server, long, 0);
  print(`back at the end: heap ${(await heapMb(devtools)).toFixed(1)} MB`);
});
