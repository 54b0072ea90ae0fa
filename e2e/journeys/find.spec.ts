// Getting back to what was said: from a search, and to where one was reading.

import type { Cockpit } from "../harness/cockpit";
import { createSession, say, waitUntil } from "../harness/talk";
import { expect, expectAccessible, test } from "../harness/test";

const turns = 20;

test.use({ setup: { agent: "demo" } });

/** A conversation whose beginning is not on the first page. */
async function longConversation(server: Parameters<typeof say>[0]): Promise<string> {
  const id = await createSession(server, "long");
  await say(server, id, "run `echo one kingfisher`");
  await waitUntil(server, id, 0);
  for (let turn = 0; turn < turns; turn++) {
    await say(server, id, `heron ${turn}`);
    if (turn % 10 === 9) await waitUntil(server, id, 2);
  }
  await waitUntil(server, id, 0);
  return id;
}

const marked = (cockpit: Cockpit) =>
  cockpit.page.evaluate(() => [...(CSS.highlights.get("found-here") ?? [])].map((range) => range.toString()));

const placeOfMark = (cockpit: Cockpit) =>
  cockpit.page.evaluate(() => {
    const [range] = CSS.highlights.get("found-here") ?? [];
    const around = (range as Range).startContainer.parentElement;
    const log = document.querySelector(".log");
    const { left, top } = (range as Range).getBoundingClientRect();
    return `${around?.closest("[class]")?.className} ${Math.round(left)} ${Math.round(top + (log?.scrollTop ?? 0))}`;
  });

async function search(cockpit: Cockpit, words: string): Promise<void> {
  await cockpit.page.keyboard.press("Control+k");
  await cockpit.page.getByRole("dialog", { name: "Find" }).getByRole("combobox").fill(words);
}

test("a search hit opens where it was said, and the place of reading outlives switching and reloading", async ({
  cockpit,
  page,
  server,
}) => {
  const id = await longConversation(server);
  const other = await createSession(server, "other");
  await page.goto(`${server.url}/#/sessions/${other}`);
  await expect(cockpit.composer).toBeVisible();

  await test.step("one hit for what is shown once, without marks", async () => {
    await search(cockpit, "echo one");
    const hits = page.getByRole("option").filter({ hasText: "kingfisher" });
    await expect(hits.first()).toBeVisible();
    expect((await hits.allInnerTexts()).join(), "marks of code").not.toContain("`");
    const answer = page.getByRole("option").filter({ hasText: "ended with exit code 0" });
    await expect(answer).toHaveCount(1);
    await answer.click();
  });

  const place = cockpit.answers.filter({ hasText: "ended with exit code 0" });
  await test.step("it opens at the hit, in a part that was not loaded", async () => {
    await expect(place).toBeInViewport();
    await expect.poll(() => marked(cockpit)).toEqual(["echo one"]);
  });

  const top = async () => Math.round((await place.boundingBox())?.y ?? Number.NaN);
  const before = await top();
  const isBack = () => expect.poll(async () => Math.abs((await top()) - before), { message: "its place" }).toBeLessThan(3);

  await test.step("back after another session", async () => {
    await page.goto(`${server.url}/#/sessions/${other}`);
    await expect(page.getByText("What should be done?")).toBeVisible();
    await page.goto(`${server.url}/#/sessions/${id}`);
    await isBack();
  });

  await test.step("and after a reload", async () => {
    await page.reload();
    await isBack();
    await page.getByRole("button", { name: "Go to the end" }).click();
    await expect(cockpit.mine.last()).toBeInViewport();
  });

  const bar = page.getByRole("search", { name: "Find in this conversation" });
  const field = bar.getByRole("textbox");
  await test.step("its own bar finds what is folded and what is not loaded", async () => {
    await page.reload();
    await expect(cockpit.mine.last()).toBeInViewport();
    if (cockpit.isPhone) await cockpit.fromHead("Find in this conversation");
    else await page.keyboard.press("Control+f");
    await expect(field).toBeFocused();
    await field.fill("kingfisher");
    const count = bar.getByRole("status");
    await expect(count).toHaveText(/^\d of \d$/);
    const all = Number((await count.textContent())?.split(" of ")[1]);
    expect(all, "in the message, the command, its output and the answer").toBeGreaterThanOrEqual(4);
    await expectAccessible(page);
    const seen = new Set<string>();
    let last = await placeOfMark(cockpit);
    // The first time around it opens what is folded, the second nothing moves any more.
    for (let step = 0; step < 2 * all; step++) {
      await field.press("Enter");
      await expect.poll(() => placeOfMark(cockpit)).not.toBe(last);
      last = await placeOfMark(cockpit);
      if (step >= all) seen.add(last);
    }
    expect(await marked(cockpit)).toEqual(["kingfisher"]);
    expect(seen.size, "each find is a place of its own").toBe(all);
    expect([...seen].some((place) => place.includes("agent-output")), "in the folded output").toBe(true);
    await field.fill("no such bird");
    await expect(count).toHaveText("No matches");
  });

  await test.step("Escape closes it and takes the marks away", async () => {
    await field.press("Escape");
    await expect(bar).toHaveCount(0);
    expect(await marked(cockpit)).toEqual([]);
    if (!cockpit.isPhone) await expect(cockpit.composer).toBeFocused();
  });
});
