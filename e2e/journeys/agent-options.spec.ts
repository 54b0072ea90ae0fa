import { Cockpit } from "../harness/cockpit";
import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { policy: "auto" } });

test("the agent's mode is shown, changed, kept over a reload, and obeyed", async ({
  cockpit,
  page,
  server,
  browser,
}) => {
  await cockpit.send("create a file one.txt with hello");
  await cockpit.copilot().expectEnded("done");
  const panel = page.locator("details.agent-sessions");
  await expect(panel.locator("> summary")).toContainText("main");
  await expect(panel.locator("> summary")).toContainText("Agent");
  await panel.locator("> summary").click();
  const mode = panel.getByRole("combobox", { name: "Mode" });
  await mode.selectOption({ label: "Plan" });
  await expect(panel.locator("> summary")).toContainText("Plan");
  await expect(cockpit.log).toContainText("Mode: Plan");
  await expect(panel.getByRole("meter", { name: "Context in use" })).toBeVisible();
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();

  const elsewhere = await browser.newContext({ viewport: page.viewportSize() });
  const other = new Cockpit(await elsewhere.newPage());
  await other.signIn(await server.freshLink());
  await expect(other.page.locator("details.agent-sessions > summary")).toContainText("Plan");
  await elsewhere.close();

  await page.reload();
  await expect(panel.locator("> summary")).toContainText("Plan");
  await cockpit.send("create a file two.txt with hello");
  await cockpit.copilot().expectEnded("done");
  await expect(cockpit.answers.last()).toContainText("two.txt");
});
