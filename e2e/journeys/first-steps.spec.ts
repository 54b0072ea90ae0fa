// The list of first steps: what each of its buttons leads to.

import { expect, expectAccessible, test } from "../harness/test";

test("the first task starts, and an agent and a main AI are set up where their steps lead", async ({
  cockpit,
  page,
}) => {
  const steps = page.getByRole("list", { name: "First steps" });
  const step = (title: string) => steps.getByRole("listitem").filter({ hasText: title });
  await expect(step("Set up an agent")).toContainText("Only the demo agent is here");
  await expectAccessible(page);
  await step("Set up an agent").getByRole("link").click();
  await expect(page.getByRole("heading", { name: "Agents", exact: true })).toBeVisible();
  await page.goBack();
  await step("Add a main AI").getByRole("link").click();
  await expect(page).toHaveURL(/#\/settings\/main-ai$/);
  await expect(page.getByRole("heading", { name: "Main AI" }).first()).toBeVisible();
  await page.goBack();
  await cockpit.composer.fill("a thought for later");
  await step("Give it a first task").getByRole("button", { name: "Start" }).click();
  await expect(cockpit.mine).toHaveText(/Create a file hello.txt/);
  await expect(page, "it has a session of its own").toHaveURL(/#\/sessions\//);
  await expect(cockpit.answers).toContainText("hello.txt");
  await cockpit.expectIdle();
});

test.describe("with an agent that was never started", () => {
  test.use({ setup: { agent: "guarded" } });

  test("its step claims no more than is known, and its row has the focus @desktop", async ({ cockpit, page }) => {
    await cockpit.expectHome();
    const steps = page.getByRole("list", { name: "First steps" });
    await expect(steps.getByRole("listitem").first()).toHaveText(/Guarded agent is installed/);
    await page.goto(new URL("/#/agents/guarded", page.url()).href);
    const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Guarded agent" }) });
    await expect(row).toBeFocused();
  });
});
