import type { Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { expect, expectAccessible, test } from "../harness/test";

/** The demo agent under another name. */
const second = ({ voxpilot }: { voxpilot: string }) =>
  `[agents.second]\ntitle = "Second agent"\ncommand = ${JSON.stringify(voxpilot)}\nargs = ["demo-agent"]\n`;

async function openAll(cockpit: Cockpit, page: Page): Promise<void> {
  await cockpit.openSessions();
  await cockpit.sidebar.getByRole("link", { name: "Resume a session" }).click();
  await expect(page.getByRole("heading", { name: "Resume a session" })).toBeVisible();
}

test("a conversation that only the agent has is found, continued here once, and remembers what was said", async ({
  cockpit,
  page,
}) => {
  await openAll(cockpit, page);
  await expect(page.getByText("No conversations yet")).toBeVisible();
  await expectAccessible(page);

  // The demo agent keeps its sessions by itself, whatever becomes of ours.
  await cockpit.newSession();
  await cockpit.send("say heron");
  await expect(cockpit.answers).toHaveText(["heron"]);
  await cockpit.expectIdle();
  await cockpit.fromHead("Delete");
  const sure = page.getByRole("dialog", { name: "Delete this session?" });
  await sure.getByRole("checkbox", { name: "Also delete the agent’s own record" }).uncheck();
  await sure.getByRole("button", { name: "Delete" }).click();
  await cockpit.expectHome();
  await expect(page.getByText("Session deleted")).toBeHidden({ timeout: 15_000 });

  await openAll(cockpit, page);
  const ask = page.getByRole("button", { name: "Ask the agents" });
  await ask.click();
  const row = page.getByRole("listitem").filter({ hasText: "say heron" });
  await expect(row).toContainText("only with Demo agent");
  await expect(row).toContainText("just now");
  await expect(ask).toBeEnabled();
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();
  await row.getByRole("button", { name: "Resume here: say heron" }).click();
  for (const visit of ["live", "reloaded"]) {
    await expect(cockpit.mine.first(), visit).toContainText("say heron");
    await expect(cockpit.answers.first(), visit).toHaveText("heron");
    await expect(cockpit.log, visit).toContainText("Resumed from the agent’s own session");
    if (visit === "live") await page.reload();
  }
  await cockpit.send("what was my first message?");
  await expect(cockpit.answers.last()).toContainText("“say heron”");
  await cockpit.expectIdle();
  await cockpit.expectNoSidewaysScroll();
});

test.describe("with a second agent", () => {
  test.use({ setup: { settings: second } });

  test("ours are listed by directory with agent and state, filtered, and opened @desktop", async ({
    cockpit,
    page,
    server,
  }) => {
    for (const [title, agent] of [
      ["Count the birds", "demo"],
      ["Name the trees", "second"],
    ]) {
      const made = await server.call("POST", "/api/sessions", { title, agent });
      expect(made.ok).toBe(true);
    }
    await openAll(cockpit, page);
    const place = page.getByRole("region", { name: server.work });
    await expect(place.getByRole("listitem")).toHaveCount(2);
    await expect(place.getByRole("listitem").filter({ hasText: "Name the trees" })).toContainText("Second agent");
    await expect(place.getByRole("listitem").filter({ hasText: "Count the birds" })).toContainText("idle");

    const filter = page.getByRole("searchbox", { name: "Filter the conversations" });
    await filter.fill("birds");
    await expect(place.getByRole("listitem")).toHaveCount(1);
    await filter.fill("fish");
    await expect(page.getByText("No matches.")).toBeVisible();
    await filter.fill("");
    await page.getByRole("combobox", { name: "Agent of the conversations" }).selectOption("Second agent");
    await expect(place.getByRole("listitem")).toHaveText([/Name the trees/]);

    await place.getByRole("link", { name: "Name the trees" }).click();
    await expect(page.getByRole("heading", { name: "Name the trees" })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole("heading", { name: "Resume a session" })).toBeVisible();
  });
});
