import { expect, expectAccessible, test } from "../harness/test";

test("a session that only the agent has is found, continued here once, and remembers what was said", async ({
  cockpit,
  page,
}) => {
  await cockpit.openSessions();
  await page.getByRole("button", { name: "Continue an agent’s session" }).click();
  const dialog = page.getByRole("dialog", { name: "Continue an agent’s session" });
  await expect(dialog).toContainText("There are none");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();

  // The demo agent keeps its sessions by itself, whatever becomes of ours.
  await cockpit.openSessions();
  await page.getByRole("button", { name: "New session" }).click();
  await expect(page.getByRole("heading", { name: "What should be done?" })).toBeVisible();
  await cockpit.send("say heron");
  await expect(cockpit.answers).toHaveText(["heron"]);
  await cockpit.expectIdle();
  await cockpit.openSessions();
  await cockpit.sidebar.getByRole("button", { name: "Delete say heron" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "Welcome to VoxPilot" })).toBeVisible();

  await cockpit.openSessions();
  await page.getByRole("button", { name: "Continue an agent’s session" }).click();
  const found = dialog.getByRole("button", { name: /say heron/ });
  await expect(found).toContainText("just now");
  await expectAccessible(page);
  await found.click();
  await expect(dialog).toBeHidden();
  for (const visit of ["live", "reloaded"]) {
    await expect(cockpit.mine.first(), visit).toContainText("say heron");
    await expect(cockpit.answers.first(), visit).toHaveText("heron");
    await expect(cockpit.log, visit).toContainText("Continued here from the agent’s own session");
    if (visit === "live") await page.reload();
  }
  await cockpit.send("what was my first message?");
  await expect(cockpit.answers.last()).toContainText("“say heron”");
  await cockpit.expectIdle();
  await cockpit.expectNoSidewaysScroll();

  await cockpit.openSessions();
  await page.getByRole("button", { name: "Continue an agent’s session" }).click();
  await expect(found).toContainText("goes on here already");
  await page.keyboard.press("Escape");
});
