// Everything is reached and used by keys alone; what closes gives the focus back.

import { expect, test } from "../harness/test";

test.use({
  setup: { policy: "ask", files: { "readme.md": "one\n" }, changes: { "readme.md": "two\n" } },
  serviceWorkers: "block",
});

test("a session is worked with by keyboard alone @desktop", async ({ cockpit, page }) => {
  /** Presses Tab until what has that name has the focus, and sees that it shows. */
  const reach = async (name: RegExp, key: "Tab" | "Shift+Tab" = "Shift+Tab") => {
    for (let press = 0; press < 80; press += 1) {
      await page.keyboard.press(key);
      const { label, isShown } = await page.evaluate(() => {
        const at = document.activeElement as HTMLElement;
        const { outlineStyle, boxShadow } = getComputedStyle(at);
        const label = at.getAttribute("aria-label") ?? (at.closest("label") ?? at).textContent ?? "";
        return { label: label.trim(), isShown: outlineStyle !== "none" || boxShadow !== "none" };
      });
      if (!name.test(label)) continue;
      expect(isShown, `the focus is seen on ${label}`).toBe(true);
      return;
    }
    throw new Error(`no way by keys to ${name}`);
  };
  const press = async (key: string) => await page.keyboard.press(key);
  /** What something has covered takes no key for half a second. */
  const settle = async () => await page.waitForTimeout(600);
  const leave = async () => {
    await press("Escape");
    await expect(dialog).toHaveCount(0);
    await settle();
  };
  const focused = page.locator(":focus");
  const dialog = page.getByRole("dialog");

  await cockpit.send("run `echo one`");
  await expect(cockpit.cards.getByRole("button", { name: "Always…" })).toBeEnabled();
  await reach(/^Always…/);
  await press("Enter");
  const grant = page.getByRole("button", { name: "Always allow this command" });
  await expect(grant).toBeEnabled();
  await leave();
  await expect(focused).toHaveAccessibleName(/^Always…/);
  await press("Enter");
  await expect(grant).toBeEnabled();
  await reach(/^Always allow this command/, "Tab");
  await press("Enter");
  await cockpit.expectIdle();

  await cockpit.composer.focus();
  await page.keyboard.type("create a file notes.md with hello");
  await press("Enter");
  await expect(cockpit.cards.getByRole("button", { name: "Allow", exact: true })).toBeEnabled();
  await reach(/^Allow/);
  await press("Enter");
  await cockpit.expectIdle();

  await settle();
  await cockpit.composer.focus();
  await reach(/^Commit$/);
  await press("Enter");
  await expect(dialog.getByRole("textbox", { name: "Commit message" })).toBeFocused();
  await leave();
  await expect(focused, "back where it was").toHaveAccessibleName("Commit");
  await reach(/^ran echo one|^Ran echo one/);
  await press("Enter");
  await reach(/^More$/);
  await press("Enter");
  await expect(page.getByRole("menu")).toBeVisible();
  await leave();
  await expect(focused).toHaveAccessibleName("More");
  for (const [key, name] of [
    ["?", "Keyboard shortcuts"],
    ["Control+k", "Find"],
  ] as const) {
    await press(key);
    await expect(page.getByRole("dialog", { name })).toBeVisible();
    await leave();
    await expect(focused, `after ${name}`).toHaveAccessibleName("More");
  }
  await press("Control+f");
  await expect(page.getByRole("search").getByRole("textbox")).toBeFocused();
  await page.keyboard.type("echo");
  await press("Enter");
  await expect(page.getByRole("search").getByRole("status")).toHaveText(/of/);
  await leave();
  await expect(focused, "after the find").toHaveAccessibleName("More");

  await press("Control+Shift+D");
  const changes = page.getByRole("complementary", { name: "Changes" });
  await expect(changes).toContainText("notes.md");
  await reach(/^Close changes$/, "Tab");
  await leave();
  await expect(changes).toHaveCount(0);
  await expect(focused, "after the changes").toHaveAccessibleName("More");

  await cockpit.composer.focus();
  await reach(/^Settings$/);
  await press("Enter");
  await expect(page.getByRole("navigation", { name: "Settings sections" })).toBeVisible();
  await reach(/^Appearance/, "Tab");
  await press("Enter");
  await reach(/^Dark$/, "Tab");
  await press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
