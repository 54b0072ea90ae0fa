import type { Rule } from "../harness/script";
import { expect, expectAccessible, test } from "../harness/test";

const script: Rule[] = [
  { when: { last_user_contains: "delegate", has_tool_result: true }, reply: { text: "It is done." } },
  {
    when: { last_user_contains: "delegate" },
    reply: { tool_calls: [{ name: "copilot_agent", arguments: { prompt: "run `echo made`", session_name: "work" } }] },
  },
];

test.describe("nobody has chosen", () => {
  test.use({ setup: { policy: "unset", script } });

  test("that agents work without asking is seen and can be refused at the first start", async ({ cockpit, page }) => {
    const choice = page.getByRole("region", { name: "Approvals" });
    await expect(choice).toContainText("Agents work without asking");
    await expectAccessible(page);
    await choice.getByRole("button", { name: "Ask me first" }).click();
    await expect(choice).toHaveCount(0);
    await page.reload();
    await cockpit.expectHome();
    await expect(choice).toHaveCount(0);

    await cockpit.send("delegate it");
    await expect(cockpit.cards).toContainText("echo made");
    await expect(page.getByRole("button", { name: "Permissions: Ask" })).toBeVisible();
    await cockpit.cards.getByRole("button", { name: "Allow", exact: true }).click();
    await expect(cockpit.answers).toHaveText(["It is done."]);
  });

  test("what is kept so is seen in the session, told in the turn, and a choice away from being asked", async ({
    cockpit,
    page,
  }) => {
    await page.getByRole("button", { name: "Keep auto-approve" }).click();
    await expect(page.getByRole("region", { name: "Approvals" })).toHaveCount(0);
    // What the pointer is on does not close by itself.
    await page.mouse.move(2, 2);
    await cockpit.send("delegate it");
    await expect(cockpit.answers).toHaveText(["It is done."]);
    const { block, stream } = cockpit.copilot("work");
    const ran = stream.locator("summary").filter({ hasText: "Ran" });
    for (const visit of ["live", "reloaded"]) {
      await page.mouse.move(2, 2);
      await cockpit.copilot("work").expectEnded("done");
      await block.locator("> summary").click();
      await ran.click();
      await expect(stream.locator(".approved"), visit).toContainText("Allowed automatically: echo made");
      await ran.click();
      await block.locator("> summary").click();
      if (visit === "live") await page.reload();
    }

    const pill = page.getByRole("button", { name: "Permissions: Auto, approves automatically" });
    await expect(pill).toBeInViewport();
    await expectAccessible(page);
    await cockpit.expectNoSidewaysScroll();
    await cockpit.choose("Permissions", /^Ask/);
    await expect(pill).toHaveCount(0);
    await cockpit.send("delegate it once more");
    await expect(cockpit.cards).toContainText("echo made");
    await cockpit.cards.getByRole("button", { name: "Allow" }).click();
    await expect(cockpit.answers).toHaveText(["It is done.", "It is done."]);
  });
});

test("straight talk under auto tells what was allowed, still after a reload @desktop", async ({ cockpit, page }) => {
  await cockpit.send("run `echo made`");
  await cockpit.copilot().expectEnded("done");
  await expect(page.getByRole("button", { name: /approves automatically/ })).toBeVisible();
  const approved = cockpit.copilot().stream.locator(".approved");
  await expect(approved).toContainText("Allowed automatically: echo made");
  await page.reload();
  await expect(approved).toContainText("Allowed automatically: echo made");
});
