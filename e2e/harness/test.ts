// The test function of the journeys: a server, a signed-in page, and nothing left behind.

import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { Cockpit } from "./cockpit";
import { processesOf } from "./processes";
import { Server, type Setup } from "./server";

interface Fixtures {
  setup: Setup;
  server: Server;
  /** Signed in, on the page that it lands on. */
  cockpit: Cockpit;
}

export const test = base.extend<Fixtures>({
  setup: [{}, { option: true }],

  server: async ({ setup }, use, info) => {
    const server = new Server(setup);
    try {
      await server.start();
      await use(server);
      const code = await server.stop();
      await expect.poll(() => processesOf(server.directory).filter(isOurs), { message: "processes left" }).toEqual([]);
      expect(code, "exit code of the server").toBe(0);
    } finally {
      await server.discard();
      if (info.status !== info.expectedStatus) {
        await info.attach("server", { body: server.log.join("\n"), contentType: "text/plain" });
      }
    }
  },

  cockpit: async ({ page, server }, use) => {
    const problems = watch(page);
    const cockpit = new Cockpit(page);
    await cockpit.signIn(server.link);
    await use(cockpit);
    expect(problems, "errors on the page").toEqual([]);
  },
});

/** The model server is the test's own and ends after this check. */
function isOurs({ command }: { command: string }): boolean {
  return !command.includes("model-server");
}

const of_requests = ["Failed to load resource", "An unknown error occurred when fetching the script"];

/** Collects what goes wrong inside a page. A request that fails is for the page to handle; the browser's word about it is not an error. */
function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !of_requests.some((word) => message.text().startsWith(word)))
      problems.push(message.text());
  });
  return problems;
}

/** For everybody. What is being drawn anew may be half there for a moment; what stays wrong is found. */
export async function expectAccessible(page: Page, rules?: string[]): Promise<void> {
  await expect(async () => await expectNothingFound(page, rules)).toPass({ intervals: [500, 1_000], timeout: 60_000 });
}

async function expectNothingFound(page: Page, rules?: string[]): Promise<void> {
  // What fades in is judged once it is there.
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    const ended = Promise.all(ending.map((animation) => animation.finished.catch(() => {})));
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 3_000))]);
  });
  // Judged inside the page: the other mode opens a second page for every look, and takes four times as long.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) })
    .analyze();
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.target).join(" | ")}`,
  );
  expect(found, "accessibility").toEqual([]);
}

export { expect };
