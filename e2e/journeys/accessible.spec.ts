// Every screen for everybody: nothing that axe finds in either scheme, nothing out of reach at 200 %.

import { Devices } from "../harness/devices";
import { expectReachableAtTwice } from "../harness/reach";
import { expect, expectAccessible, test } from "../harness/test";

const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
test.use({
  setup: {
    policy: "ask",
    files: { "readme.md": "one\n", "src/long.txt": lines },
    changes: { "readme.md": "two\n", "src/new.txt": "new\n" },
  },
  serviceWorkers: "block",
});

const sections = ["general", "appearance", "main-ai", "agents", "permissions", "notifications", "devices", "server"];

test("every screen is accessible in both schemes, and within reach at 200 %", async ({
  cockpit,
  page,
  server,
}) => {
  test.setTimeout(600_000);
  const faults: string[] = [];
  // All are judged before the first fault ends it.
  const judge = async (name: string) => {
    await test.step(name, async () => {
      try {
        await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
        await expectAccessible(page);
        await page.emulateMedia({ colorScheme: "dark" });
        await expectAccessible(page, ["color-contrast"]);
        if (!cockpit.isPhone) await expectReachableAtTwice(page);
      } catch (fault) {
        faults.push(`${name}: ${fault}`);
      }
    });
  };
  const dialog = page.getByRole("dialog");
  const close = async () => {
    await page.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
  };
  /** By its address, as a link leads there. */
  const visit = async (place: string) => {
    await page.evaluate((place) => {
      location.hash = `#/${place}`;
    }, place);
  };

  await judge("first run");
  await page.keyboard.press("Control+k");
  await expect(dialog).toBeVisible();
  await judge("palette");
  await close();

  await cockpit.send("run `echo one`");
  await expect(cockpit.cards.getByRole("button", { name: "Always…" })).toBeEnabled();
  await judge("question");
  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  await expect(page.getByRole("button", { name: "Always allow this command" })).toBeEnabled();
  await judge("always");
  await page.getByRole("button", { name: "Always allow this command" }).click();
  await cockpit.expectIdle();
  await cockpit.send("create a file notes.md with hello");
  await cockpit.cards.getByRole("button", { name: "Deny with a reason" }).click();
  await expect(cockpit.cards.getByRole("textbox", { name: "Reason" })).toBeVisible();
  await judge("reason");
  await cockpit.cards.getByRole("button", { name: "Cancel" }).click();
  await cockpit.cards.getByRole("button", { name: "Allow", exact: true }).click();
  await cockpit.expectIdle();
  await expect(cockpit.log.getByRole("button", { name: "Commit" })).toBeVisible();
  const session = /#\/(sessions\/[\w-]+)/.exec(page.url())?.[1] ?? "";
  await judge("conversation");

  await cockpit.fromHead("Find in this conversation");
  await page.getByRole("search").getByRole("textbox").fill("one");
  await expect(page.getByRole("search").getByRole("status")).toHaveText(/of/);
  await judge("find");
  await page.keyboard.press("Escape");
  for (const name of ["Saved permissions", "Agent traffic", "Delete"]) {
    await cockpit.fromHead(name);
    await expect(dialog).toBeVisible();
    await judge(name);
    await close();
  }
  await cockpit.log.focus();
  await page.keyboard.press("?");
  await expect(dialog).toBeVisible();
  await judge("keys");
  await close();
  for (const pill of ["Agent", "Permissions"] as const) {
    await cockpit.openPill(pill);
    await judge(`menu of ${pill}`);
    await page.keyboard.press("Escape");
  }

  await cockpit.log.getByRole("button", { name: "Commit" }).click();
  await expect(dialog.getByRole("textbox", { name: "Commit message" })).toBeVisible();
  await judge("commit");
  await close();
  await cockpit.fromHead("Changes");
  await expect(page.getByRole("complementary", { name: "Changes" })).toContainText("notes.md");
  await judge("changes");
  await visit(`${session}/review`);
  await expect(page.getByText("notes.md").first()).toBeVisible();
  await judge("review");
  await page.getByRole("button", { name: /^Send( review)?/ }).click();
  await expect(page.getByRole("dialog", { name: "Send review" })).toBeVisible();
  await judge("send review");
  await close();
  await visit(`${session}/files/src%2Flong.txt:30`);
  await expect(page.getByRole("complementary", { name: "File src/long.txt" })).toContainText("Line 30");
  await judge("file");

  await visit("settings");
  await expect(page.getByRole("heading", { name: "Settings" }).first()).toBeVisible();
  await judge("settings");
  // On a desk they are one below the other.
  for (const section of cockpit.isPhone ? sections : []) {
    await visit(`settings/${section}`);
    await expect(page.locator(`#settings-${section}`)).toBeVisible();
    await judge(`settings, ${section}`);
  }
  await visit("settings/main-ai");
  await page.getByRole("button", { name: "Add a main AI" }).click();
  await expect(dialog).toBeVisible();
  await dialog.getByRole("combobox", { name: "Provider" }).selectOption("OpenAI-compatible");
  await dialog.getByRole("textbox", { name: "Base URL" }).fill("http://127.0.0.1:1/v1");
  await dialog.getByRole("button", { name: "Load models" }).click();
  await expect(dialog.getByRole("status")).toContainText("Is it running?");
  await judge("main AI that fails");
  await close();

  await visit("agents");
  await expect(page.getByRole("list", { name: "Installed agents" }).getByRole("listitem").first()).toBeVisible();
  await judge("agents");
  await visit("conversations");
  await expect(page.getByRole("button", { name: "Ask the agents" })).toBeVisible();
  await judge("conversations");
  const devices = new Devices(cockpit);
  await visit(session);
  await expect(cockpit.log).toBeVisible();
  await devices.open();
  await judge("devices");
  await devices.dialog.getByRole("button", { name: "Add a device" }).click();
  await expect(devices.panel.getByRole("radio", { name: "Tailscale" })).toBeVisible();
  await judge("ways for a phone");
  await devices.close();

  for (const nowhere of ["nowhere", "sessions/00000000-0000-4000-8000-000000000000"]) {
    await visit(nowhere);
    await expect(page.getByRole("heading", { name: /not found$|There is n/ })).toBeVisible();
    await judge(nowhere);
  }
  await visit(session);
  await expect(cockpit.log).toBeVisible();
  await server.crash();
  await expect(page.getByText("Reconnecting.")).toBeVisible();
  await judge("no connection");
  await server.startAgain();
  await expect(page.getByText("Reconnecting.")).toHaveCount(0);
  await page.context().clearCookies();
  await page.reload();
  await expect(page.getByLabel("Pairing code")).toBeVisible();
  await judge("signed out");
  expect(faults).toEqual([]);
});
