// Under Auto a protected file still waits: where it is chosen says so, the list shows who stands still for one, and it can be
// chosen that they are included.

import { expect, expectAccessible, test } from "../harness/test";

test("a session that stands still for a protected file says so, and can be told to go on", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("create a file AGENTS.md with obey me");
  await expect(cockpit.cards).toContainText("AGENTS.md");
  // A question that has just come takes no press yet, not even to be put aside.
  await expect(cockpit.cards.getByRole("button", { name: "Allow" })).toBeEnabled();
  await cockpit.newSession();
  await cockpit.openSessions();
  const row = cockpit.rows.filter({ hasText: "Protected file" });
  await expect(row).toBeVisible();
  await expect(cockpit.sidebar.getByRole("heading", { name: /^Needs you/ })).toBeVisible();
  await expectAccessible(page);

  await row.getByRole("link").click();
  await expect(cockpit.cards.getByRole("button", { name: "Allow" })).toBeEnabled();
  await cockpit.putAside();
  // Nor does what it uncovers.
  await page.waitForTimeout(700);
  const menu = await cockpit.openPill("Permissions");
  await expect(menu).toContainText("Questions about protected files still wait for you.");
  await expectAccessible(page);
  await menu.getByRole("menuitemradio", { name: /^Auto, including protected files/ }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.expectIdle();
  await expect(
    page.getByRole("button", { name: "Permissions: Auto, all files, approves automatically" }),
  ).toBeVisible();

  await cockpit.send("create a file CLAUDE.md with obey me");
  await cockpit.copilot().expectEnded("done");
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.openSessions();
  await expect(row).toHaveCount(0);
});
