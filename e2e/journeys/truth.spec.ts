// The page claims only what happened: what waits does not run, what was declined was not done, and every bad end has a next step.

import type { Cockpit } from "../harness/cockpit";
import { photograph } from "../harness/screens";
import { createSession, say } from "../harness/talk";
import { expect, expectAccessible, test } from "../harness/test";

/** As it is seen: what is for those who listen is not in it. */
const seen = (cockpit: Cockpit) => cockpit.log.evaluate((log) => (log as HTMLElement).innerText);
const internal = /closing message|stop reason/;

test.describe("it asks", () => {
  test.use({ setup: { policy: "ask" } });

  test("what is asked for waits: no spinner, no count, one question, also after a reload", async ({
    cockpit,
    page,
  }, info) => {
    await cockpit.send("run `rm -rf build`");
    const waits = cockpit.log.locator(".waits");
    await expect(cockpit.cards).toHaveCount(1);
    for (const visit of ["live", "reloaded"]) {
      await expect(waits, visit).toContainText(/Waiting for you.*rm -rf build.*asked at \d\d:\d\d/);
      await expect(cockpit.log.locator(".dot.running"), visit).toHaveCount(0);
      expect(await seen(cockpit), visit).not.toMatch(/Running|\d s\b/);
      await expect(page.getByText("Run a command?"), visit).toHaveCount(1);
      if (visit === "live") await page.reload();
    }
    await expectAccessible(page);
    await photograph(page, info, "truth-waiting");
    await cockpit.putAside();
    await waits.getByRole("button").click();
    await expect(cockpit.cards.getByRole("button", { name: "Allow", exact: true })).toBeInViewport();
    await cockpit.cards.getByRole("button", { name: "Allow", exact: true }).click();
    await cockpit.expectIdle();
  });

  test("a declined edit was not applied: struck out, without colours, and counted nowhere", async ({
    cockpit,
    page,
  }, info) => {
    await cockpit.send("create a file called declined.txt with the text never there");
    await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
    await cockpit.copilot().expectEnded("declined");
    await cockpit.expectIdle();
    for (const visit of ["live", "reloaded"]) {
      const row = cockpit.log.locator(".agent-call").filter({ hasText: "declined.txt" });
      await expect(row, visit).toContainText("Not applied");
      await expect(row.locator("s"), visit).toHaveText("declined.txt");
      await expect(row.locator(".line-end"), visit).toContainText("declined");
      await expect(row.locator(".ghost .call-diff"), visit).toBeVisible();
      await expect(cockpit.log.locator(".plus-minus"), visit).toHaveCount(0);
      expect(await seen(cockpit), visit).not.toMatch(/Edited|1 file/);
      const colours = await row
        .locator(".ghost td")
        .evaluateAll((cells) => [...new Set(cells.map((cell) => getComputedStyle(cell).backgroundColor))]);
      expect(colours, visit).toEqual(["rgba(0, 0, 0, 0)"]);
      if (visit === "live") await page.reload();
    }
    await photograph(page, info, "truth-declined");
  });

  test("an edit that is stopped while it waits was not applied, and the stop is said once", async ({
    cockpit,
    page,
  }, info) => {
    await cockpit.send("create a file called stopped.txt with the text never there");
    await expect(cockpit.cards).toHaveCount(1);
    await cockpit.putAside();
    await cockpit.stop.click();
    await cockpit.copilot().expectEnded("stopped");
    await cockpit.expectIdle();
    for (const visit of ["live", "reloaded"]) {
      const row = cockpit.log.locator(".agent-call").filter({ hasText: "stopped.txt" });
      await expect(row, visit).toContainText("Not applied");
      const text = await seen(cockpit);
      expect(text, visit).not.toMatch(internal);
      expect(text, visit).not.toMatch(/Edited|failed|\+1/);
      expect(text.match(/Stopped/g), visit).toHaveLength(1);
      if (visit === "live") await page.reload();
    }
    await photograph(page, info, "truth-stopped");
  });
});

test("a short turn takes little room, and says nothing twice", async ({ cockpit, page }, info) => {
  await cockpit.send("run `echo one`");
  await cockpit.copilot().expectEnded("done");
  await cockpit.expectIdle();
  const height = () =>
    cockpit.log.evaluate((log) => {
      const top = log.querySelector(".message.user")?.getBoundingClientRect().top ?? 0;
      return (log.querySelector(".turn-foot")?.getBoundingClientRect().bottom ?? 0) - top;
    });
  for (const visit of ["live", "reloaded"]) {
    await expect(page.getByRole("button", { name: "Copy answer" }), visit).toBeVisible();
    await expect(cockpit.log.locator(".lead"), visit).toContainText("ran echo one");
    expect(await seen(cockpit), visit).not.toMatch(/Plan|tokens/);
    // The message, one line of what it did, two of what it said with a box around one of them, and the row below.
    await expect.poll(height, visit).toBeLessThan(270);
    if (visit === "live") await page.reload();
  }
  await cockpit.log.locator(".lead").click();
  await expect(cockpit.log.locator(".lead-body")).toContainText("one");
  await expect(cockpit.log.locator(".lead-body .plan-steps")).toBeVisible();
  await photograph(page, info, "truth-compact");
});

test("the tokens are in the ring beside the button that sends @desktop", async ({ cockpit, page }) => {
  await cockpit.send("say hello");
  await cockpit.copilot().expectEnded("done");
  const ring = page.getByRole("button", { name: /of the context used$/ });
  await ring.click();
  const usage = page.getByRole("region", { name: "Usage" });
  await expect(usage).toContainText(/Context.*of 128k tokens/);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(usage).toHaveCount(0);
  await expect(ring).toBeFocused();
});

test("New is said only where something new is below", async ({ cockpit, page, server }) => {
  await cockpit.send("write 900 words");
  await cockpit.copilot().expectEnded("done");
  await cockpit.expectIdle();
  await expect.poll(() => cockpit.log.evaluate((log) => log.scrollHeight - log.clientHeight)).toBeGreaterThan(300);
  await cockpit.log.hover();
  await page.mouse.wheel(0, -250);
  const end = page.locator(".to-end");
  await expect(end).toHaveText("Go to the end");
  const id = /sessions\/([\w-]+)/.exec(page.url())?.[1] ?? "";
  await say(server, id, "say more");
  await expect(end).toHaveText("New");
  await end.click();
  await expect(end).toHaveCount(0);
  await cockpit.expectIdle();
});

test.describe("the card of a turn", () => {
  test.use({ setup: { files: { "before.txt": "one\n" }, changes: {} } });

  test("Review opens the files of that turn, at the one that was chosen", async ({ cockpit, page }) => {
    for (const name of ["first", "second"]) {
      await cockpit.send(`create a file called ${name}.txt with the text ${name}`);
      await cockpit.copilot().expectEnded("done");
      await cockpit.expectIdle();
    }
    const card = page.getByRole("region", { name: "Files of this turn" });
    await expect(card).toContainText("second.txt");
    await card.getByRole("link", { name: "Review" }).click();
    const review = page.getByRole("region", { name: "Review" });
    await expect(review).toContainText("second.txt");
    await expect(review).not.toContainText("first.txt");
    await page.goBack();
    await card.getByRole("link", { name: "second.txt" }).click();
    await expect(review).toContainText("second.txt");
  });
});

test.describe("agents that fail", () => {
  test.use({ setup: { agent: "faulty" } });

  test("a crash has its word, one sentence, and buttons that work", async ({ cockpit, page }, info) => {
    await cockpit.send("crash_mid_line");
    await cockpit.copilot().expectEnded("crashed");
    await cockpit.expectIdle();
    for (const visit of ["live", "reloaded"]) {
      await expect(cockpit.copilot().title, visit).toContainText("— crashed");
      const foot = cockpit.log.getByRole("alert").first();
      await expect(foot, visit).toContainText(/Its process .*\. Its work so far is kept\./);
      await expect(foot.locator(".dot.failed"), visit).toBeVisible();
      expect(await seen(cockpit), visit).not.toMatch(internal);
      if (visit === "live") await page.reload();
    }
    await photograph(page, info, "truth-crashed");
    await cockpit.log.getByRole("button", { name: "Agent traffic" }).click();
    await expect(page.getByRole("dialog")).toContainText(/traffic/i);
    await page.keyboard.press("Escape");
    await cockpit.log.getByRole("button", { name: "Continue" }).click();
    await expect(cockpit.mine.last()).toContainText("Continue with what you were doing.");
    await cockpit.expectIdle();
  });

  for (const [reason, word, step] of [
    ["refusal", "refused", "Try again"],
    ["max_tokens", "out of tokens", "Continue"],
    ["max_turn_requests", "step limit reached", "Continue"],
  ] as const) {
    test(`${reason} is called ${word}, with a next step @desktop`, async ({ cockpit }) => {
      await cockpit.send(`stop_reason ${reason}`);
      await cockpit.copilot().expectEnded(word);
      await cockpit.expectIdle();
      // What was asked for is a word of the person's own.
      expect((await seen(cockpit)).replace(`stop_reason ${reason}`, "")).not.toMatch(/_|stop reason:/);
      await cockpit.log.getByRole("button", { name: step }).click();
      await expect(cockpit.mine).toHaveCount(2);
      await cockpit.expectIdle();
    });
  }
});

test.describe("an agent that is not there", () => {
  test.use({
    setup: {
      agent: "demo",
      settings: () => `[agents.nowhere]\ntitle = "Nowhere"\ncommand = "/nonexistent/nowhere"\n`,
    },
  });

  test("says that it did not start, and another one can be asked", async ({ cockpit, page, server }, info) => {
    const { id } = await (await server.call("POST", "/api/sessions", { agent: "nowhere" })).json();
    await page.goto(`${server.url}/#/sessions/${id}`);
    await cockpit.send("say hello");
    await cockpit.copilot().expectEnded("not started");
    await cockpit.expectIdle();
    await photograph(page, info, "truth-not-started");
    await cockpit.log.getByRole("button", { name: /^Use / }).click();
    await expect(cockpit.answers.last()).toHaveText("hello");
  });
});

test.describe("an agent that needs a login", () => {
  test.use({ setup: { agent: "guarded" } });

  test("says that its task waits, and Sign in brings up the way", async ({ cockpit, page }, info) => {
    await cockpit.send("say hello");
    const foot = cockpit.log.getByRole("note").filter({ hasText: "The task waits. It starts when you sign in." });
    await expect(foot).toBeVisible();
    await expect(cockpit.log.locator(".dot.running")).toHaveCount(0);
    await photograph(page, info, "truth-login");
    await cockpit.putAside();
    await foot.getByRole("button", { name: "Sign in" }).click();
    await expect(cockpit.cards.first()).toBeFocused();
    await cockpit.putAside();
    await cockpit.stop.click();
    await cockpit.expectIdle();
  });
});

test.describe("several agents", () => {
  test.use({
    setup: {
      policy: "ask",
      script: [
        { when: { last_user_contains: "both", has_tool_result: true }, reply: { text: "Both are done." } },
        {
          when: { last_user_contains: "both" },
          reply: {
            tool_calls: [
              { name: "copilot_agent", arguments: { prompt: "run `echo one`", session_name: "asks" } },
              { name: "copilot_agent", arguments: { prompt: "count to 2000", session_name: "works" } },
            ],
          },
        },
      ],
    },
  });

  test("the one that waits does not spin, the one that works does", async ({ cockpit, page }, info) => {
    await cockpit.send("both");
    await expect(cockpit.cards).toHaveCount(1);
    const asks = cockpit.copilot("asks");
    const works = cockpit.copilot("works");
    await works.expectRunning();
    await expect(asks.block.locator(".dot.running")).toHaveCount(0);
    await expect(asks.title.getByRole("img", { name: "Needs you" })).toBeVisible();
    await photograph(page, info, "truth-lanes");
    await cockpit.putAside();
    await cockpit.stop.click();
    await cockpit.expectIdle();
  });
});

test("what is exported has no words that are meant for a model @desktop", async ({ cockpit, page, server }) => {
  const id = await createSession(server, "Exported");
  await page.goto(`${server.url}/#/sessions/${id}`);
  await cockpit.send("count to 5000");
  await cockpit.copilot().reaches(10);
  await cockpit.stop.click();
  await cockpit.expectIdle();
  const [download] = await Promise.all([page.waitForEvent("download"), cockpit.fromHead("Export")]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  expect(text).toContain("*Ended: stopped*");
  expect(text).not.toMatch(internal);
});
