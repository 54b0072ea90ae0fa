// What an agent keeps of a session by itself goes with the session, if that is wanted; it is asked once.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { faultyAgent } from "../harness/binaries";
import type { Cockpit } from "../harness/cockpit";
import { photograph } from "../harness/screens";
import { expect, expectAccessible, test } from "../harness/test";

const list = (directory: string) => join(directory, "agents-own");
const records = (directory: string) =>
  existsSync(list(directory)) ? readFileSync(list(directory), "utf8").split("\n").filter(Boolean).length : 0;

test.use({
  setup: {
    settings: ({ directory }) =>
      `[agents.keeper]\ntitle = "Keeper"\ncommand = ${JSON.stringify(faultyAgent)}\n` +
      `[agents.keeper.env]\nFAULTY_DELETE = "ok"\nFAULTY_LIST = ${JSON.stringify(list(directory))}\n`,
  },
});

async function workedIn(cockpit: Cockpit): Promise<void> {
  await cockpit.newSession();
  await cockpit.choose("Agent", /^Keeper/);
  await cockpit.send("prompts");
  await cockpit.expectIdle();
}

test("the agent's own record is deleted with the session, and it is asked once", async ({
  cockpit,
  page,
  server,
}, info) => {
  await workedIn(cockpit);
  await expect.poll(() => records(server.directory)).toBe(1);
  await cockpit.fromHead("Delete");
  const dialog = page.getByRole("dialog", { name: "Delete this session?" });
  await expect(dialog.getByRole("checkbox", { name: "Also delete the agent’s own record" })).toBeChecked();
  await expectAccessible(page);
  await photograph(page, info, "delete-session");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await cockpit.fromHead("Delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Session deleted, with the agent’s own record")).toBeVisible();
  await cockpit.expectHome();
  await expect.poll(() => records(server.directory), { timeout: 20_000 }).toBe(0);

  await workedIn(cockpit);
  await cockpit.fromHead("Delete");
  await expect(page.getByText("Session deleted, with the agent’s own record")).toBeVisible();
  await expect(dialog).toBeHidden();

  await page.goto(`${server.url}/#/settings/agents`);
  const choice = page.getByRole("group", { name: "Agents’ own records" });
  await expect(choice.getByRole("button", { name: "Delete" })).toHaveAttribute("aria-pressed", "true");
  await choice.getByRole("button", { name: "Ask" }).click();
  await expect(choice.getByRole("button", { name: "Ask" })).toHaveAttribute("aria-pressed", "true");
  await expectAccessible(page);
  await photograph(page, info, "agents-own-records");
  await page.goto(`${server.url}/`);
  await workedIn(cockpit);
  await cockpit.fromHead("Delete");
  await expect(dialog).toContainText("change the answer in Settings");
});
