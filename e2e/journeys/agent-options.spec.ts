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
  const mode = (name: string) => page.getByRole("button", { name: `Mode: ${name}`, includeHidden: true });
  await expect(mode("Agent")).toHaveCount(1);
  await cockpit.choose("Mode", /^Plan/);
  await expect(mode("Plan")).toHaveCount(1);
  await expect(cockpit.log).toContainText("Mode: Plan");
  await expect(page.getByRole("button", { name: /% of the context used/, includeHidden: true })).toHaveCount(1);
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();

  const elsewhere = await browser.newContext({ viewport: page.viewportSize() });
  const other = new Cockpit(await elsewhere.newPage());
  await other.signIn(await server.freshLink());
  await other.openSession();
  await expect(other.page.getByRole("button", { name: "Mode: Plan", includeHidden: true })).toHaveCount(1);
  await elsewhere.close();

  await page.reload();
  await expect(mode("Plan")).toHaveCount(1);
  await cockpit.send("create a file two.txt with hello");
  await cockpit.copilot().expectEnded("done");
  await expect(cockpit.answers.last()).toContainText("two.txt");
});
