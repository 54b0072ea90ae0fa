import { photograph } from "../harness/screens";
import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { policy: "ask" } });

const override = "\u202e";
const joiner = "\u200b";

test("what would hide or turn around a command is seen before it is allowed, and after", async ({ cockpit, page }) => {
  await cockpit.send(`run \`echo safe ${override}# gnihton ylno${joiner}\``);
  cockpit.lastSent = "echo safe ⟨U+202E⟩";
  const command = cockpit.cards.locator("code.command");
  await expect(command).toHaveText("echo safe ⟨U+202E⟩# gnihton ylno⟨U+200B⟩");
  await expect(cockpit.cards.locator(".card-place"), "where it would run").toHaveText("Folder not stated");
  const mark = command.getByRole("img", { name: /RIGHT-TO-LEFT OVERRIDE/ });
  await expect(mark).toBeVisible();
  await expect(mark).toHaveAttribute("title", "U+202E RIGHT-TO-LEFT OVERRIDE");
  await expectAccessible(page);
  await cockpit.cards.getByRole("button", { name: "Allow" }).click();
  await cockpit.copilot().expectEnded("done");
  const shown = await page.evaluate(() => document.body.textContent ?? "");
  expect(shown).not.toContain(override);
  expect(shown).not.toContain(joiner);
  await page.reload();
  await expect(cockpit.copilot().stream).toContainText("⟨U+202E⟩");
  expect(await page.evaluate(() => document.body.textContent)).not.toContain(override);
});

test("a change with hidden characters shows them @desktop", async ({ cockpit }) => {
  await cockpit.send(`create a file access.txt with admin${override} only`);
  await expect(cockpit.cards.locator(".call-diff .code.add")).toHaveText(/admin⟨U\+202E⟩ only$/);
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("a long command can be read to its end, the buttons in reach", async ({ cockpit, page }) => {
  const words = Array.from({ length: 300 }, (_, index) => `word${index}`).join(" ");
  await cockpit.send(`run \`echo ${words} && echo the-end\``);
  const command = cockpit.cards.locator("code.command");
  await expect(command).toContainText("the-end");
  await expect(cockpit.cards.getByRole("button", { name: "Allow" })).toBeInViewport({ ratio: 1 });
  await page.locator(".card-detail").evaluate((box) => box.scrollTo(0, box.scrollHeight));
  const end = await command.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const last = [...range.getClientRects()].at(-1);
    const box = element.closest(".card-detail")?.getBoundingClientRect();
    return { end: last?.bottom ?? 0, box: box?.bottom ?? 0 };
  });
  expect(end.end, "its last line is inside of the box").toBeLessThanOrEqual(end.box + 1);
  await cockpit.expectNoSidewaysScroll();
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("a protected file says so and is never allowed for always @desktop", async ({ cockpit, page }) => {
  await cockpit.send("create a file AGENTS.md with obey me");
  await expect(cockpit.cards.getByRole("list", { name: "Places" })).toHaveText("AGENTS.md protected");
  await expect(cockpit.cards.getByRole("button", { name: "Allow" })).toBeVisible();
  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  const dialog = page.getByRole("dialog", { name: "Stop asking about this?" });
  await expect(dialog.getByRole("button", { name: "Always deny this request" })).toBeEnabled();
  await expect(dialog.getByRole("button", { name: /allow/i })).toHaveCount(0);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});

test("a file that runs later says so before it is changed", async ({ cockpit, page }, info) => {
  await cockpit.send("create a file Makefile with all:");
  await expect(cockpit.cards.getByRole("list", { name: "Runs later" })).toContainText("Makefile");
  await expect(cockpit.cards.getByRole("button", { name: "Allow", exact: true })).toBeInViewport({ ratio: 1 });
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();
  await photograph(page, info, "runs-later");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
});
