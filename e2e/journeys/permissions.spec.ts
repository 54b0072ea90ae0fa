import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Cockpit } from "../harness/cockpit";
import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { policy: "ask" } });

test("the exact command is shown, and runs when it is allowed", async ({ cockpit, page, server }) => {
  await cockpit.send("run `echo one > made.txt && cat made.txt`");
  await expect(cockpit.cards.locator("code.command")).toHaveText("echo one > made.txt && cat made.txt");
  await expect(page).toHaveTitle(/^\(1\)/);
  expect(existsSync(join(server.work, "made.txt")), "nothing runs before the answer").toBe(false);
  await expectAccessible(page);

  await page.reload();
  await expect(cockpit.cards.locator("code.command")).toHaveText("echo one > made.txt && cat made.txt");
  await cockpit.cards.getByRole("button", { name: "Allow" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.copilot().expectEnded("done");
  expect(readFileSync(join(server.work, "made.txt"), "utf8")).toBe("one\n");
  await expect(page).not.toHaveTitle(/^\(/);
});

test("the exact change is shown, and is not made when it is rejected", async ({ cockpit, server }) => {
  await cockpit.send("create a file notes.txt with hello there");
  await expect(cockpit.cards.locator(".call-diff .code.add")).toHaveText(/hello there$/);
  await expect(cockpit.cards).toContainText("notes.txt");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.copilot().expectEnded("declined");
  await expect(cockpit.copilot().block.locator(".agent-call")).toContainText("Not applied");
  await expect(cockpit.answers).toContainText("declined");
  expect(existsSync(join(server.work, "notes.txt"))).toBe(false);
});

test("what is answered on one device is gone from the other @desktop", async ({ cockpit, browser, page, server }) => {
  await cockpit.send("run `echo shared`");
  const elsewhere = await browser.newContext({ viewport: page.viewportSize() });
  const other = new Cockpit(await elsewhere.newPage());
  await other.signIn(await server.freshLink());
  await other.openSession();
  await expect(other.cards).toContainText("echo shared");
  await other.cards.getByRole("button", { name: "Allow" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.copilot().expectEnded("done");
  await elsewhere.close();
});

test("always allowed is not asked again, and covers nothing that was not shown @desktop", async ({ cockpit, page }) => {
  await cockpit.send("run `echo first`");
  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  await expect(page.getByRole("dialog").getByText("in this session").first()).toBeVisible();
  await page.getByRole("button", { name: "Always allow this command" }).click();
  await expect(cockpit.answers).toHaveCount(1);
  await cockpit.send("run `echo first`");
  await expect(cockpit.answers).toHaveCount(2);
  const told = cockpit.copilot().stream.locator(".approved");
  await expect(told).toHaveText("Allowed by a rule: echo firstView rule");
  await cockpit.send("run `echo second`");
  await expect(cockpit.cards.locator("code.command")).toHaveText("echo second");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("what is remembered is listed, holds in the project, and is revoked", async ({ cockpit, page }) => {
  await cockpit.send("run `echo first`");
  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  await expect(page.getByRole("button", { name: "Always allow this command" })).toBeEnabled();
  await page.getByRole("radio", { name: /every session of this project/ }).check();
  await page.getByRole("button", { name: "Always allow this command" }).click();
  await expect(cockpit.answers).toHaveCount(1);

  await cockpit.newSession();
  await cockpit.send("run `echo first`");
  await expect(cockpit.answers).toHaveCount(1);

  await cockpit.fromHead("Saved permissions");
  const dialog = page.getByRole("dialog", { name: "Saved permissions" });
  await expect(dialog.getByRole("listitem")).toContainText(["Allow this commandthis projectecho first"]);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(dialog).toContainText("No saved permissions yet");
  await dialog.getByRole("button", { name: "Close" }).click();
  await cockpit.send("run `echo first`");
  await expect(cockpit.cards.locator("code.command")).toHaveText("echo first");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("a long change leaves the buttons in reach", async ({ cockpit, page }) => {
  const lines = Array.from({ length: 80 }, (_, index) => `line ${index + 1} of a file that is long`).join("\n");
  await cockpit.send(`create a file long.txt with:\n\`\`\`\n${lines}\n\`\`\``);
  await expect(cockpit.cards).toBeVisible();
  const smallest = page.viewportSize()?.width === 390 ? 44 : 32;
  for (const name of ["Allow", "Always", "Deny with a reason"]) {
    const button = cockpit.cards.getByRole("button", { name });
    await expect(button).toBeInViewport({ ratio: 1 });
    const box = await button.boundingBox();
    expect(box?.height, `height of ${name}`).toBeGreaterThanOrEqual(smallest);
    expect(box?.width, `width of ${name}`).toBeGreaterThanOrEqual(smallest);
  }
  await cockpit.expectNoSidewaysScroll();
  await cockpit.cards.locator(".call-diff .code", { hasText: "line 80 of" }).scrollIntoViewIfNeeded();
  await expect(cockpit.cards.locator(".call-diff .code", { hasText: "line 80 of" })).toBeInViewport();
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("a refusal can say why, and the agent reads it @desktop", async ({ cockpit }) => {
  await cockpit.send("run `echo never`");
  await cockpit.cards.getByRole("button", { name: "Deny with a reason" }).click();
  await cockpit.cards.getByRole("textbox", { name: "Reason" }).fill("say understood");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await expect(cockpit.copilot().block).toContainText("Not run");
  await expect(cockpit.log).toContainText("understood");
  await cockpit.expectIdle();
});
