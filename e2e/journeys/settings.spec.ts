// The settings: what applies and where it comes from, changed in place, found by search, at every size and by keyboard alone.

import { photograph } from "../harness/screens";
import { expect, expectAccessible, test } from "../harness/test";

test.use({
  setup: { policy: "unset", settings: () => 'disk_quota = "20G"\n' },
  serviceWorkers: "block",
});

test("a setting shows what applies, is saved by itself and can be reset", async ({ cockpit, page, server }, info) => {
  await expect(cockpit.composer).toBeVisible();
  await page.goto(`${server.url}/#/settings`);
  const nav = page.getByRole("navigation", { name: "Settings sections" });
  await expect(nav.getByRole("link")).toHaveCount(8);
  await photograph(page, info, "settings-sections");

  await nav.getByRole("link", { name: /^General/ }).click();
  const title = page.locator(".setting[data-key=title]");
  await title.getByRole("textbox", { name: "Project name" }).fill("The train");
  await page.keyboard.press("Enter");
  await expect(page.locator(".settings-saved")).toHaveText("Saved");
  await expect(title).toContainText("Set here");
  await expect(page.locator(".settings-saved"), "for 2 s").toHaveText("");
  await expect(page.locator(".setting[data-key=disk_quota]")).toContainText("From your voxpilot.toml");
  await title.getByRole("button", { name: "Reset Project name" }).click();
  await expect(title).toContainText("Default");

  await page.goto(`${server.url}/#/settings/agents`);
  const agent = page.locator(".setting[data-key=agent]");
  await expect(agent.getByRole("combobox", { name: "Default agent" })).toBeDisabled();
  await expect(agent).toContainText("Set by VOXPILOT_AGENT");
  await page.goto(`${server.url}/#/settings/server`);
  await expect(page.locator("[data-key=bind]")).toContainText("VOXPILOT_BIND");
  await expect(page.getByRole("textbox", { name: "Address" })).toHaveCount(0);

  await page.goto(`${server.url}/#/settings/appearance`);
  await page.getByRole("button", { name: "Dark", exact: true }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html"), "after a reload").toHaveAttribute("data-theme", "dark");
  await expect(page.getByRole("button", { name: "Dark", exact: true })).toHaveAttribute("aria-pressed", "true");
  await expectAccessible(page);
  await page.getByRole("button", { name: "System", exact: true }).click();
  await expect(page.locator("html")).not.toHaveAttribute("data-theme");
});

test("Auto for every session asks once @desktop", async ({ cockpit, page, server }) => {
  await expect(cockpit.composer).toBeVisible();
  await page.goto(`${server.url}/#/settings/permissions`);
  const policy = page.getByRole("combobox", { name: "Policy" });
  await policy.selectOption("Ask");
  await expect(page.locator(".setting[data-key=permission_policy]")).toContainText("Set here");
  await policy.selectOption("Auto");
  const dialog = page.getByRole("dialog", { name: "Run everything without asking?" });
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(policy).toHaveValue("ask");
  await policy.selectOption("Auto");
  await dialog.getByRole("button", { name: "Turn on Auto" }).click();
  await expect(policy).toHaveValue("auto");
  await expect.poll(async () => (await (await server.call("GET", "/api/server")).json()).permission_policy).toBe("auto");
});

test("a setting is found and changed by keyboard alone, at 200 % zoom @desktop", async ({ cockpit, page, server }) => {
  await expect(cockpit.composer).toBeVisible();
  // As a browser at 1440 by 900 lays it out when it is zoomed to 200 %.
  await page.setViewportSize({ width: 720, height: 450 });
  await page.goto(`${server.url}/#/settings`);
  const field = page.getByRole("textbox", { name: "Stop idle agents after" });
  await expect(field).toBeVisible();
  const title = await page.getByRole("textbox", { name: "Project name" }).boundingBox();
  expect(title?.width, "a field that can be read").toBeGreaterThan(240);
  await expectAccessible(page);

  await page.keyboard.press("/");
  await page.keyboard.type("idle time");
  await expect(page.getByText("1 setting for “idle time”")).toBeVisible();
  for (let presses = 0; presses < 12; presses += 1) {
    await page.keyboard.press("Tab");
    if (await field.evaluate((element) => element === document.activeElement)) break;
  }
  await expect(field).toBeFocused();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("5");
  await page.keyboard.press("Enter");
  await expect(page.locator(".setting[data-key=copilot_connection_ttl]")).toContainText("Set here. Default: 30 min");
  await expect(field).toHaveValue("5");
  await expectAccessible(page);
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(sideways, "nothing is wider than the window").toBe(0);
});
