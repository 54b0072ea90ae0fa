import { expect, expectAccessible, test } from "../harness/test";

test("an agent's words and work are the conversation, each shown once, live and after a reload", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("create a file called note.txt with the text hello, then say the note is written");
  await cockpit.copilot().expectEnded("done");
  await cockpit.expectIdle();
  for (const visit of ["live", "reloaded"]) {
    const turn = cockpit.copilot();
    await expect(turn.stream.locator(".agent-call").filter({ hasText: "note.txt" }).first(), visit).toBeVisible();
    await expect(cockpit.log.locator("details.tool-block, details.copilot-block"), visit).toHaveCount(0);
    const shown = await cockpit.log.evaluate((log) => (log as HTMLElement).innerText);
    expect(shown.split("the note is written").length - 1, `${visit}: in the question and in the answer`).toBe(2);
    await expect(cockpit.answers.last(), visit).toContainText("the note is written");
    if (visit === "live") await page.reload();
  }
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();
});

test("a name in front opens a second agent session beside, which remembers its own @desktop", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("say one");
  await cockpit.copilot().expectEnded("done");
  await cockpit.send("@docs say two");
  await cockpit.copilot("docs").expectEnded("done");
  await cockpit.expectIdle();
  await cockpit.send("@docs what was my first message?");
  await expect(cockpit.answers.last()).toContainText("say two");
  await cockpit.expectIdle();
  await cockpit.send("what was my first message?");
  await expect(cockpit.answers.last()).toContainText("say one");
  await page.reload();
  await expect(cockpit.copilot("docs").title).toBeVisible();
  await expect(cockpit.copilot("main").title).toBeVisible();
});

test("an answer stays where it is read, from its first letter until after its end", async ({ cockpit, page }) => {
  await cockpit.send("count to 150");
  await cockpit.copilot().reaches(20);
  await page.evaluate(() => {
    const tops = new Set<number>();
    Object.assign(window, { tops });
    const look = () => {
      const words = document.querySelector(".agent-turn .copilot-text");
      if (words) tops.add(Math.round(words.getBoundingClientRect().top));
      requestAnimationFrame(look);
    };
    look();
  });
  await cockpit.copilot().expectEnded("done");
  await cockpit.expectIdle();
  await expect(page.getByRole("button", { name: "Copy answer" })).toBeVisible();
  const tops = await page.evaluate(() => [...(window as unknown as { tops: Set<number> }).tops]);
  expect(tops, "places of its first line").toHaveLength(1);
});

test("what is hidden from eyes does not make the page longer than the window", async ({ cockpit, page }) => {
  for (const name of ["one", "two", "three"]) {
    await cockpit.send(`create a file called ${name}.txt with the text hello, then write 300 words`);
    await cockpit.copilot().expectEnded("done");
    await cockpit.expectIdle();
  }
  await expect.poll(() => cockpit.log.evaluate((log) => log.scrollHeight)).toBeGreaterThan(1_500);
  await expect(cockpit.log.locator(".visually-hidden").first()).toBeAttached();
  const surplus = () => page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
  await expect.poll(surplus, "surplus height of the page").toBeLessThanOrEqual(0);
  await page.reload();
  await expect(cockpit.answers).toHaveCount(3);
  await expect.poll(surplus, "surplus height of the page, reloaded").toBeLessThanOrEqual(0);
});
