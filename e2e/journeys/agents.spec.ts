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

const rowOf = (page: Page, list: string, title: string) =>
  page
    .getByRole("list", { name: list })
    .locator("> li")
    .filter({ has: page.getByRole("heading", { name: title }) });
const itemOf = (page: Page, title: string) => rowOf(page, "Installed agents", title);
const missingOf = (page: Page, title: string) => rowOf(page, "Agents to add", title);

/** What stands in the menu of an agent. */
async function fromMenu(page: Page, agent: string, does: string): Promise<void> {
  await page.getByRole("button", { name: `More of ${agent}` }).click();
  await page.getByRole("menuitem", { name: does }).click();
}

test.describe("with a second agent", () => {
  const npm = "echo this registry is closed >&2; exit 1";
  test.use({ setup: { settings: second, programs: { npm } } });

  test("the agent of a new session is chosen before the first message, and is named wherever it speaks", async ({
    cockpit,
    page,
  }) => {
    const chosen = (name: string) => page.getByRole("button", { name: `Agent: ${name}` });
    if (await cockpit.composer.isVisible()) await cockpit.composer.focus();
    await expect(chosen("Demo agent")).toBeVisible();
    const menu = await cockpit.openPill("Agent");
    await expect(menu.getByRole("menuitemradio", { name: /GitHub Copilot/ }), "not installed").toHaveCount(0);
    await expect(menu.getByRole("menuitem", { name: "Add an agent" })).toBeVisible();
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
    await expect(missingOf(page, "GitHub Copilot").getByRole("button", { name: "Install: GitHub Copilot" })).toBeVisible();
    await expectAccessible(page);
    await cockpit.expectNoSidewaysScroll();
    await fromMenu(page, "Second agent", "New session");
    await cockpit.send("say hello");
    await expect(cockpit.copilot().title).toContainText("🤖 Second agent [main]");
    await cockpit.expectIdle();
  });

  test("what one can do is told by a test, step by step, and nothing is claimed before", async ({ cockpit, page }) => {
    await openAgents(cockpit, page);
    const demo = itemOf(page, "Demo agent");
    await demo.getByText("Capabilities").click();
    await expect(demo).toContainText("not tested");
    await expect(demo).not.toContainText("unknown");
    await expectAccessible(page);
    await demo.getByRole("button", { name: "Test", exact: true }).click();
    await expect(demo.getByText(/^Testing: /)).toBeVisible();
    await expect(demo).toContainText(/Capabilities .*tested just now/, { timeout: 90_000 });
    await demo.getByText("Capabilities").click();
    const fact = demo.getByRole("listitem").filter({ hasText: "Asks before it acts" });
    await expect(fact).toContainText("tested");
    await expect(demo.getByRole("button", { name: "Test again" })).toBeVisible();
    await expectAccessible(page);
    await cockpit.expectNoSidewaysScroll();
  });

  test("a test can be stopped @desktop", async ({ cockpit, page }) => {
    await openAgents(cockpit, page);
    const demo = itemOf(page, "Demo agent");
    await demo.getByText("Capabilities").click();
    await demo.getByRole("button", { name: "Test", exact: true }).click();
    await demo.getByRole("button", { name: "Stop testing Demo agent" }).click();
    await expect(demo).toContainText("not tested");
  });

  test("a missing agent is installed by a command that is seen first, and a failure says why @desktop", async ({
    cockpit,
    page,
    context,
  }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openAgents(cockpit, page);
    const missing = missingOf(page, "Gemini CLI");
    await missing.getByRole("button", { name: "Install: Gemini CLI" }).click();
    const dialog = page.getByRole("dialog", { name: "Install Gemini CLI on the server?" });
    await expect(dialog.locator("code")).toHaveText("npm install -g @google/gemini-cli");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Copy" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("npm install -g @google/gemini-cli");
    await dialog.getByRole("button", { name: "Install", exact: true }).click();
    await expect(missing.getByRole("alert")).toHaveText("Not installed: this registry is closed", { timeout: 30_000 });
    await expect(missing.getByRole("button", { name: "Try again: Gemini CLI" })).toBeVisible();
    await expectAccessible(page);
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
    await fromMenu(page, "Guarded agent", "Sign in");
    const dialog = page.getByRole("dialog", { name: "Sign in to Guarded agent" });
    await expect(dialog.getByText("AB12-CD34")).toBeVisible();
    server.agree();
    await expect(dialog.getByRole("status")).toHaveText("Signed in.");
    await dialog.getByRole("button", { name: "Close" }).click();
    await fromMenu(page, "Guarded agent", "New session");
    await cockpit.send("say hello");
    await expect(cockpit.answers).toHaveText(["hello"]);
    await cockpit.expectIdle();
  });

  test("an agent that turned somebody away says that it needs a login, and which command runs @desktop", async ({
    cockpit,
    page,
  }) => {
    await cockpit.send("say hello");
    await expect(page.getByRole("article", { name: "Sign-in required" })).toBeVisible();
    await openAgents(cockpit, page);
    const guarded = itemOf(page, "Guarded agent");
    await expect(guarded).toContainText("Signed out");
    await expect(guarded.locator("code")).toContainText("login");
    await expectAccessible(page);
  });
});
