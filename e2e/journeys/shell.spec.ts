// What is around a conversation: menus, bars and messages that come and go.

import { expect, expectAccessible, test } from "../harness/test";

test("a message is edited and sent again under a bar that says so, and the draft comes back", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("say hello");
  await cockpit.copilot().expectEnded("done");
  await cockpit.composer.fill("half a thought");
  const bar = page.getByRole("status").filter({ hasText: "Editing a message you sent" });
  const edit = async () => {
    await cockpit.mine.first().hover();
    await cockpit.mine.first().getByRole("button", { name: "Edit and resend" }).click();
    await expect(bar).toContainText("It goes out as a new message; the original stays.");
    await expect(cockpit.composer).toHaveValue("say hello");
  };
  await edit();
  await expectAccessible(page);
  await bar.getByRole("button", { name: "Cancel" }).click();
  await expect(bar).toHaveCount(0);
  await expect(cockpit.composer).toHaveValue("half a thought");

  await edit();
  await page.reload();
  await expect(bar).toBeVisible();
  await expect(cockpit.composer).toHaveValue("say hello");
  await cockpit.send("say good-bye");
  await expect(cockpit.mine).toHaveCount(2);
  await expect(bar).toHaveCount(0);
  await expect(cockpit.composer).toHaveValue("half a thought");
  await cockpit.expectIdle();
});

test("menus say where things are, and messages stand above the composer", async ({ cockpit, page }) => {
  await cockpit.send("say hello");
  await cockpit.copilot().expectEnded("done");

  await test.step("what the menus offer is in the palette too", async () => {
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Find" });
    for (const name of ["Rename session", "Export as Markdown", "Saved permissions", "Agent traffic", "Delete session"]) {
      await palette.getByRole("combobox").fill(name);
      await expect(palette.getByRole("option", { name })).toBeVisible();
    }
    await palette.getByRole("combobox").fill("Rename session");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Session title" }).fill("A better name");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "A better name" }).first()).toBeVisible();
  });

  await test.step("a message that leaves by itself covers nothing that is pressed", async () => {
    await page.keyboard.press("Alt+n");
    const toast = page.locator(".toast", { hasText: "Nothing needs you." });
    await expect(toast).toBeVisible();
    const [above, below] = [await toast.boundingBox(), await page.locator(".dock > .column").boundingBox()];
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
  });

  await test.step("keys in two columns, where there is room", async () => {
    await cockpit.log.focus();
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await expect(dialog).toBeVisible();
    const [first, second] = await dialog.locator(".keys > section").evaluateAll((all) =>
      all.map((section) => {
        const { left, top } = section.getBoundingClientRect();
        return { left, top };
      }),
    );
    if (cockpit.isPhone) expect(second?.top).toBeGreaterThan(first?.top ?? 0);
    else expect(second?.left).toBeGreaterThan(first?.left ?? 0);
    await expectAccessible(page);
    await page.keyboard.press("Escape");
  });

  await test.step("the agent menu names each agent in one line", async () => {
    const menu = await cockpit.openPill("Agent");
    const item = menu.getByRole("menuitemradio", { name: /Demo agent/ });
    const apart = await item.evaluate((item) => {
      const middle = (part: Element | null) => {
        const { top, height } = (part as Element).getBoundingClientRect();
        return top + height / 2;
      };
      return Math.abs(middle(item.querySelector(".agent-mark")) - middle(item.querySelector(".agent-words > span + span")));
    });
    expect(apart, "mark and name stand on one line").toBeLessThan(2);
    await menu.getByRole("menuitem", { name: "Add an agent" }).click();
    await expect(page.getByRole("heading", { name: "Agents", exact: true })).toBeVisible();
    await page.goBack();
  });

  await test.step("a phone begins a new session from the head of another", async () => {
    if (!cockpit.isPhone) return;
    await page.locator(".head").getByRole("button", { name: "New session" }).click();
    await cockpit.expectHome();
  });
});
