// Presses, taps, keys and typing at random, on every screen while a question waits: nothing is granted or denied that was not meant.
// SEED repeats a run, PRESSES makes it longer; each repetition has the next seed.

import type { Page } from "@playwright/test";
import { createRandom, Hand, preparePage } from "../harness/hand";
import { processesOf } from "../harness/processes";
import { callsTool } from "../harness/script";
import type { Server, Setup } from "../harness/server";
import { expect, test } from "../harness/test";

const first_seed = Number(process.env.SEED ?? 1);
/** For each kind of question and each size. */
const presses = Number(process.env.PRESSES ?? 400);

const files = { files: { "a.txt": "one\n" }, changes: { "a.txt": "two\n" } };
const form = {
  type: "object",
  properties: { name: { type: "string", title: "Name" }, push: { type: "boolean", title: "Push it" } },
};
const elicitation = { mode: "form", message: "Which branch?", requestedSchema: form };

const questions: { kind: string; setup: Setup; asks: string }[] = [
  { kind: "a command", setup: { ...files, policy: "ask" }, asks: "run `echo waits > never.txt`" },
  { kind: "an edit", setup: { ...files, policy: "ask" }, asks: "create a file called never.txt with the text no" },
  {
    kind: "a form",
    setup: { ...files, agent: "faulty" },
    asks: `calls ${JSON.stringify([["elicitation/create", elicitation]])}`,
  },
  { kind: "a sign-in", setup: { ...files, agent: "guarded" }, asks: "say hello" },
  {
    kind: "a tool of the main AI",
    setup: { ...files, script: callsTool("outside", "read_file_external", { path: "/etc/hostname" }, "Read.") },
    asks: "read outside",
  },
];

/** Every screen that there is: its address below the server's, or below the session's, and what opens it from there. */
const screens: { at: "session" | "server"; path: string; keys?: string; name?: string }[] = [
  { at: "session", path: "" },
  { at: "session", path: "", keys: "Control+Shift+D" },
  { at: "session", path: "/review" },
  { at: "session", path: "/files/a.txt" },
  { at: "session", path: "", keys: "Control+k" },
  { at: "session", path: "", keys: "Control+k", name: "Agent traffic" },
  { at: "session", path: "", keys: "Control+k", name: "Saved permissions" },
  { at: "session", path: "" },
  { at: "server", path: "/#/settings" },
  { at: "server", path: "/#/agents" },
  { at: "server", path: "/#/conversations" },
  { at: "server", path: "/#/devices" },
  { at: "server", path: "/#/" },
];

async function open(page: Page, home: string, { at, path, keys, name }: (typeof screens)[number]): Promise<void> {
  await page.goto(`${at === "session" ? home : new URL(home).origin}${path}`);
  // What the hand has opened before goes.
  await page.reload();
  if (at === "session" && path === "") await expect(page.locator(".ask")).toBeAttached();
  if (keys) await page.keyboard.press(keys);
  if (!name) return;
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
}

/** What the server says of a session from now on. */
function listen(server: Server, id: string): { events: string[]; stop(): void } {
  const control = new AbortController();
  const events: string[] = [];
  const headers = { authorization: `Bearer ${server.token}` };
  const read = async () => {
    const { body } = await fetch(`${server.url}/api/sessions/${id}/stream`, { headers, signal: control.signal });
    let text = "";
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (text + piece).split("\n\n");
      text = lines.pop() ?? "";
      events.push(...lines);
    }
  };
  read().catch((error) => control.signal.aborted || events.push(`event: ended\ndata: ${error}`));
  return { events, stop: () => control.abort() };
}

/** What would answer a question, or change who is asked. The snapshot before `ready` is what was there. */
function answersOf(events: string[]): string[] {
  const from = events.findIndex((event) => event.includes("event: ready"));
  const answers =
    /event: (permission-|tool-|copilot-done|agent-update|turn|done|error|reset|ended)|"(permission_policy|rules)":/;
  return events.slice(from + 1).filter((event) => answers.test(event));
}

for (const { kind, setup, asks } of questions) {
  test.describe(kind, () => {
    test.use({ setup });
    // Quick where the machine is idle; it shares two cores with another browser.
    test.slow();

    test(`random presses and keys answer nothing: ${kind}`, async ({ cockpit, page, server }, info) => {
      const seed = first_seed + info.repeatEachIndex;
      const asked: string[] = [];
      page.on("request", (request) => {
        const isAnswer = /\/(permissions|confirm|login|permission-rules)\b/.test(request.url());
        if (request.method() !== "GET" && isAnswer) asked.push(`${request.method()} ${request.url()}`);
      });
      await preparePage(page);
      await cockpit.send(asks);
      await expect(cockpit.cards).toHaveCount(1);
      const id = /sessions\/([\w-]+)/.exec(page.url())?.[1] ?? "";
      const session = async () => {
        const { waiting, rules, permission_policy } = await (await server.call("GET", `/api/sessions/${id}`)).json();
        return { waiting, rules, permission_policy };
      };
      const before = await session();
      const { events, stop } = listen(server, id);
      await expect.poll(() => events.some((event) => event.includes("event: ready"))).toBe(true);

      const hand = await Hand.of(page, createRandom(seed));
      const seen = { early: 0, spared: 0 };
      for (const [index, screen] of screens.entries()) {
        await open(page, `${server.url}/#/sessions/${id}`, screen);
        const until = (presses * (index + 1)) / screens.length;
        while (hand.done < until) await hand.act();
        const { early, spared, judged } = await hand.seen();
        seen.early += early;
        seen.spared += spared;
        const what = `seed ${seed}, ${JSON.stringify(screen)}:\n${judged.join("\n")}`;
        expect(asked, what).toEqual([]);
        expect(answersOf(events), what).toEqual([]);
      }

      expect(await session()).toEqual(before);
      expect(processesOf(server.directory).filter(({ command }) => / login$/.test(command))).toEqual([]);
      stop();
      process.stdout.write(`${kind}: seed ${seed}, ${hand.done} presses, ${JSON.stringify(seen)}\n`);
      await open(page, `${server.url}/#/sessions/${id}`, { at: "session", path: "" });
      await expect(cockpit.cards, "the question waits").toHaveCount(1);
      await server.call("POST", `/api/sessions/${id}/cancel`);
      await cockpit.expectIdle();
    });
  });
}
