import type { Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { expect, expectAccessible, test } from "../harness/test";

const second = ({ voxpilot }: { voxpilot: string }) =>
  `copilot_cli_path = "/nowhere/copilot"\n[agents.second]\ntitle = "Second agent"\ncommand = ${JSON.stringify(voxpilot)}\nargs = ["demo-agent"]\n`;

async function openAgents(cockpit: Cockpit, page: Page): Promise<void> {
  await cockpit.openSessions();
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Agents", exact: true })).toBeVisible();
}

const itemOf = (page: Page, title: string) =>
  page
    .getByRole("list", { name: "Agents" })
    .locator("> li")
    .filter({ has: page.getByRole("heading", { name: title }) });

test.describe("with a second agent", () => {
  test.use({ setup: { settings: second } });

  test("the agent of a new session is chosen before the first message, and is named wherever it speaks", async ({
    cockpit,
    page,
  }) => {
    const chosen = (name: string) => page.getByRole("button", { name: `Agent: ${name}` });
    if (await cockpit.composer.isVisible()) await cockpit.composer.focus();
    await expect(chosen("Demo agent")).toBeVisible();
    const menu = await cockpit.openPill("Agent");
    await expect(menu.getByRole("menuitemradio", { name: /GitHub Copilot.*Not installed/ })).toBeDisabled();
    await page.keyboard.press("Escape");
    await cockpit.composer.focus();
    await cockpit.choose("Agent", /^Second agent/);
    await expectAccessible(page);
    await cockpit.send("say hello");
    await cockpit.copilot().expectEnded("done");
    await expect(cockpit.copilot().title).toHaveText("🤖 Second agent [main] — done");
    await expect(cockpit.log.getByRole("article", { name: "Second agent" })).toHaveText("hello");
    await expect(chosen("Second agent")).toBeVisible();

    await cockpit.newSession();
    await cockpit.composer.focus();
    await expect(chosen("Demo agent"), "what was chosen was for that one").toBeVisible();
    await cockpit.choose("Agent", /^Second agent/);
    await cockpit.send("say again");
    await expect(cockpit.copilot().title).toContainText("🤖 Second agent [main]");
    await cockpit.expectIdle();
    await page.reload();
    await expect(cockpit.copilot().title).toHaveText("🤖 Second agent [main] — done");
  });

  test("the page of the agents tells how each stands and what it can do, and begins a session with one", async ({
    cockpit,
    page,
  }) => {
    await openAgents(cockpit, page);
    await expect(itemOf(page, "Demo agent")).toContainText("built in");
    await expect(itemOf(page, "Demo agent")).toContainText("default");
    await expect(itemOf(page, "GitHub Copilot")).toContainText("Not installed");
    await expectAccessible(page);
    await cockpit.expectNoSidewaysScroll();
    await itemOf(page, "Second agent").getByRole("button", { name: "New session with Second agent" }).click();
    await cockpit.send("say hello");
    await expect(cockpit.copilot().title).toContainText("🤖 Second agent [main]");
    await cockpit.expectIdle();
  });

  test("what each can do is a table on a desk @desktop", async ({ cockpit, page }) => {
    await openAgents(cockpit, page);
    const table = page.getByRole("table");
    await expect(table.getByRole("columnheader", { name: "Demo agent" })).toBeVisible();
    const row = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "Takes images" }) });
    await expect(row.getByRole("cell").first()).toHaveText(/^(yes|no|unknown)/);
    await expectAccessible(page);
  });

  test("what one can do is a list on a phone @phone", async ({ cockpit, page }) => {
    await openAgents(cockpit, page);
    await expect(page.getByRole("table")).toHaveCount(0);
    const demo = itemOf(page, "Demo agent");
    await demo.getByText("What it can do").click();
    await expect(demo.getByRole("term").filter({ hasText: /images/i })).toBeVisible();
    await expect(demo.getByRole("definition").first()).toBeVisible();
    await expectAccessible(page);
    await cockpit.expectNoSidewaysScroll();
  });

  test("a missing agent says how it is installed, to be copied @desktop", async ({ cockpit, page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openAgents(cockpit, page);
    const copilot = itemOf(page, "GitHub Copilot");
    await expect(copilot.getByRole("button", { name: /^New session/ })).toHaveCount(0);
    const command = (await copilot.locator(".copy-command code").textContent()) ?? "";
    expect(command).toContain("npm install");
    await copilot.getByRole("button", { name: "Copy" }).click();
    await expect(copilot.getByRole("status")).toHaveText("Copied.");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(command);
  });
});

test.describe("with an agent that wants a login", () => {
  test.use({ setup: { agent: "guarded" } });

  test("the login runs from the page of the agents, before anything was asked of the agent", async ({
    cockpit,
    page,
    server,
  }) => {
    await openAgents(cockpit, page);
    const guarded = itemOf(page, "Guarded agent");
    await guarded.getByRole("button", { name: "Sign in to Guarded agent" }).click();
    const dialog = page.getByRole("dialog", { name: "Log in to Guarded agent" });
    await expect(dialog.getByText("AB12-CD34")).toBeVisible();
    server.agree();
    await expect(dialog.getByRole("status")).toHaveText("Logged in.");
    await dialog.getByRole("button", { name: "Close" }).click();
    await guarded.getByRole("button", { name: "New session with Guarded agent" }).click();
    await cockpit.send("say hello");
    await expect(cockpit.answers).toHaveText(["hello"]);
    await cockpit.expectIdle();
  });

  test("an agent that turned somebody away says that it needs a login, and which command runs @desktop", async ({
    cockpit,
    page,
  }) => {
    await cockpit.send("say hello");
    await expect(page.getByRole("article", { name: "Login required" })).toBeVisible();
    await openAgents(cockpit, page);
    const guarded = itemOf(page, "Guarded agent");
    await expect(guarded).toContainText("Signed out");
    await expect(guarded.locator("code")).toContainText("login");
    await expectAccessible(page);
  });
});
