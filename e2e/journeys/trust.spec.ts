import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Devices } from "../harness/devices";
import { expect, expectAccessible, test } from "../harness/test";

const harmless = 'title = "Rocket"\nsuggestions = ["Count down from ten"]\n';
const agent = (title: string) => `${harmless}\n[agents.theirs]\ntitle = "${title}"\ncommand = "/bin/false"\n`;

test.use({ setup: { files: { "voxpilot.toml": agent("Their agent") } } });

test("a project's file is shown before it counts, counts after consent, and is asked for again when it changes", async ({
  cockpit,
  page,
  server,
}) => {
  const banner = page.getByRole("region", { name: "This project wants to change settings" });
  const agents = async () => {
    await cockpit.composer.focus();
    const text = await (await cockpit.openPill("Agent")).innerText();
    await page.keyboard.press("Escape");
    return text;
  };
  await expect(banner).toContainText("voxpilot.toml");
  await expect(banner.getByRole("listitem").filter({ hasText: 'command = "/bin/false"' })).toContainText("6");
  await expect(cockpit.sidebar, "a title harms nobody").toContainText("Rocket");
  await expect(page.getByRole("button", { name: "Count down from ten" })).toBeVisible();
  await expect.poll(agents).toContain("Demo agent");
  expect(await agents()).not.toContain("Their agent");
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();
  await expect(cockpit.composer, "nothing is in the way").toBeInViewport();

  await banner.getByRole("button", { name: "Not now" }).click();
  await expect(banner).toHaveCount(0);
  await page.reload();
  await expect.poll(agents).toContain("Demo agent");
  await expect(banner).toHaveCount(0);

  writeFileSync(join(server.work, "voxpilot.toml"), agent("Another agent"));
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(banner).toContainText("Another agent");
  await banner.getByRole("button", { name: "Trust this file" }).click();
  await expect.poll(agents).toContain("Another agent");
  await expect(banner).toHaveCount(0);
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveText(["hello"]);

  writeFileSync(join(server.work, "voxpilot.toml"), agent("A third agent"));
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(banner, "asked again").toContainText("A third agent");
});

test("trust is taken back where the devices are", async ({ cockpit, page }) => {
  const banner = page.getByRole("region", { name: "This project wants to change settings" });
  const agents = async () => {
    await cockpit.composer.focus();
    const text = await (await cockpit.openPill("Agent")).innerText();
    await page.keyboard.press("Escape");
    return text;
  };
  await banner.getByRole("button", { name: "Trust this file" }).click();
  await expect.poll(agents).toContain("Their agent");
  const devices = new Devices(cockpit);
  await devices.open();
  await expect(devices.dialog).toContainText("Trusted project file:");
  await expectAccessible(page);
  await devices.dialog.getByRole("button", { name: "Revoke", exact: true }).click();
  await expect(devices.dialog).not.toContainText("Trusted project file:");
  await devices.close();
  await expect.poll(agents).not.toContain("Their agent");
  await expect(banner).toBeVisible();
});
