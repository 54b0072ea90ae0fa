// Whose changes are whose, where two sessions work in one directory, and what a commit has in it.

import { execFileSync } from "node:child_process";
import type { Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { photograph } from "../harness/screens";
import type { Server } from "../harness/server";
import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { policy: "ask", files: { "old.txt": "old\n" }, changes: {} } });

const allow = (cockpit: Cockpit) => cockpit.cards.getByRole("button", { name: "Allow", exact: true });
const git = (server: Server, ...args: string[]) => execFileSync("git", args, { cwd: server.work, encoding: "utf8" });

/** Another session in the same directory writes a file, to the end. */
async function writeElsewhere(server: Server): Promise<void> {
  const made = await server.call("POST", "/api/sessions", {
    model: "relay",
    permission_policy: "auto",
    title: "Next door",
  });
  const { id } = await made.json();
  const body = { content: "run `echo two > two.txt`", client_id: crypto.randomUUID() };
  expect((await server.call("POST", `/api/sessions/${id}/messages`, body)).ok).toBe(true);
  const files = async () =>
    (await (await server.call("GET", `/api/sessions/${id}/changes?since=session`)).json()).files;
  await expect.poll(async () => (await files()).map((file: { path: string }) => file.path)).toEqual(["two.txt"]);
}

/** A command that waits for an answer while another session writes. */
async function echoBesideAWriter(cockpit: Cockpit, server: Server): Promise<void> {
  await cockpit.send("run `echo one`");
  await expect(allow(cockpit)).toBeVisible();
  await writeElsewhere(server);
  await allow(cockpit).click();
  await expect(cockpit.log).toContainText("one");
  await cockpit.expectIdle();
}

async function openReview(page: Page): Promise<void> {
  await page.evaluate(() => {
    location.hash = `${location.hash}/review`;
  });
}

test("a session that wrote nothing has no files, and what another one wrote is listed apart", async ({
  cockpit,
  page,
  server,
}, info) => {
  await echoBesideAWriter(cockpit, server);
  await expect(page.getByRole("region", { name: "Files of this turn" })).toHaveCount(0);
  await expect(page.getByText(/^1 file/)).toHaveCount(0);
  await openReview(page);
  const review = page.getByRole("region", { name: "Review" });
  await expect(review).toContainText("This session changed nothing");
  const group = review.getByRole("region", { name: "Also changed meanwhile" });
  await expect(group).toContainText("Not by this session. Not counted.");
  await group.getByRole("button", { name: /^Also changed meanwhile/ }).click();
  await expect(group).toContainText("two.txt");
  await expect(group).toContainText("probably “Next door”");
  if (cockpit.isPhone) await group.getByRole("button", { name: /two\.txt/ }).tap();
  await expect(review.locator("ins, .added, td").filter({ hasText: "two" }).first()).toBeVisible();
  await expectAccessible(page);
  await photograph(page, info, "attribution-review");

  // What waits to be said about it is in sight by itself.
  if (cockpit.isPhone) await page.getByRole("button", { name: "Comment", exact: true }).tap();
  else {
    await page.getByRole("button", { name: "More for two.txt" }).click();
    await page.getByRole("menuitem", { name: "Comment on the file" }).click();
  }
  await page.getByRole("textbox", { name: "Comment" }).fill("Whose is it?");
  await page.reload();
  await expect(group.getByRole("button", { name: /^Also changed meanwhile/ })).toHaveAttribute("aria-expanded", "true");
  await expect(group).toContainText("two.txt");
});

test("a commit has exactly what is ticked, and begins with its message", async ({ cockpit, page, server }, info) => {
  await echoBesideAWriter(cockpit, server);
  await cockpit.send(
    "create a file called mine.txt with the text mine, then create a file called more.txt with the text more",
  );
  await allow(cockpit).click();
  await expect(cockpit.cards).toContainText("more.txt");
  await allow(cockpit).click();
  const card = page.getByRole("region", { name: "Files of this turn" });
  await expect(card).toContainText("2 files changed");
  const dialog = page.getByRole("dialog", { name: "Commit" });
  // What a closing sheet uncovers takes nothing for a moment.
  await expect(async () => {
    await card.getByRole("button", { name: "Commit" }).click();
    await expect(dialog).toBeVisible({ timeout: 3_000 });
  }).toPass();
  const message = dialog.getByRole("textbox", { name: "Commit message" });
  await expect(message).toBeFocused();
  await expect(dialog.getByRole("button", { name: /Draft/ }), "nobody could write it").toHaveCount(0);
  await expect(dialog.getByRole("checkbox", { name: /mine\.txt/ })).toBeChecked();
  const others = dialog.getByRole("group", { name: "Also changed meanwhile" });
  await expect(others.getByRole("checkbox", { name: /two\.txt/ })).not.toBeChecked();
  await expectAccessible(page);
  await photograph(page, info, "attribution-commit");
  await dialog.getByRole("checkbox", { name: /more\.txt/ }).uncheck();
  await message.fill("Add mine");
  await dialog.getByRole("button", { name: "Commit 1 file" }).click();
  await expect(page.getByText(/^Committed [0-9a-f]{8}/)).toBeVisible();
  expect(git(server, "show", "--name-only", "--format=%s", "HEAD")).toBe("Add mine\n\nmine.txt\n");
  expect(git(server, "status", "--porcelain")).toBe("?? more.txt\n?? two.txt\n");
});

test.describe("on a branch", () => {
  test.use({
    setup: { policy: "ask", files: { "old.txt": "old\n" }, changes: { "old.txt": "new\n" }, branch: "feature" },
  });

  test("the branch's menu says what is not committed, and leads there", async ({ cockpit, page }, info) => {
    await cockpit.send("create a file called mine.txt with the text mine");
    await allow(cockpit).click();
    await cockpit.expectIdle();
    const open = () =>
      page.getByRole("button", { name: cockpit.isPhone ? "Model, mode, branch" : "Branch: feature" }).click();
    await expect(async () => {
      await open();
      await expect(page.getByText("On branch feature")).toBeVisible({ timeout: 3_000 });
    }).toPass();
    const commit = page.getByRole("menuitem", { name: "Review and commit" });
    await expect(commit).toContainText("1 file not committed, 1 not by this session");
    await expectAccessible(page);
    await photograph(page, info, "branch");
    await commit.click();
    await expect(page).toHaveURL(/\/review\/head$/);
    const review = page.getByRole("region", { name: "Review" });
    await expect(review.getByRole("button", { name: "Changes: Uncommitted" })).toBeVisible();
    await expect(review).toContainText("mine.txt");
    await page.goBack();
    await open();
    await page.getByRole("menuitem", { name: "Compare with main" }).click();
    await expect(review.getByRole("button", { name: "Changes: Since main" })).toBeVisible();
  });
});
