// A main AI that is added in the page: from choosing a model to its first answer, without losing what was written.

import type { Rule } from "../harness/script";
import { expect, expectAccessible, test } from "../harness/test";

const script: Rule[] = [
  { when: { last_user_contains: "Call the tool" }, reply: { tool_calls: [{ name: "ready", arguments: {} }] } },
  { when: { last_user_contains: "hello there" }, reply: { text: "I am the main AI." } },
];
test.use({ setup: { script, withoutMainAi: true } });

test("choosing a model without a provider leads to the form, and the message waits for it", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.composer.fill("hello there");
  await cockpit.openPill("Model");
  await page.getByRole("textbox", { name: "Another model" }).fill("coder");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Add a main AI" });
  await dialog.getByRole("combobox", { name: "Provider" }).selectOption("OpenAI-compatible");
  await dialog.getByRole("textbox", { name: "Base URL" }).fill("http://127.0.0.1:1/v1");
  const key = dialog.getByLabel("API key");
  await key.fill("not-a-real-key");
  await dialog.getByRole("button", { name: "Load models" }).click();
  await expect(dialog.getByRole("status")).toContainText("Is it running?");
  await expect(key, "a failure keeps the fields").toHaveValue("not-a-real-key");
  await expectAccessible(page);

  await dialog.getByRole("textbox", { name: "Base URL" }).fill(server.modelUrl ?? "");
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("combobox", { name: "Model" }), "the model that was wanted").toHaveValue("coder");
  await dialog.getByRole("combobox", { name: "Model" }).selectOption("main");
  await dialog.getByRole("button", { name: "Test and add" }).click();
  await expect(dialog.getByRole("status")).toContainText(/main answered in \d+\.\d s and can use tools/);
  await expect(dialog).toContainText("Your message is still in the composer.");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();

  await expect(cockpit.composer).toHaveValue("hello there");
  await cockpit.composer.press("Enter");
  await expect(cockpit.answers).toHaveText(["I am the main AI."]);
  await page.goto(`${server.url}/#/settings/main-ai`);
  const provider = page.locator(".setting[data-key=model_provider]");
  await expect(provider).toContainText("OpenAI-compatible (127.0.0.1");
  await expect(provider).toContainText("Key added");
  await provider.getByRole("button", { name: "Remove" }).click();
  await expect(provider, "the row follows at once").toContainText("None");
  await expect(page.locator("body")).not.toContainText("not-a-real-key");
  await expectAccessible(page);
});

test("a session that can't start gives its text back, and the way to a model that works @desktop", async ({
  cockpit,
  page,
}) => {
  await page.evaluate(() => localStorage.setItem("voxpilot.new.choices", JSON.stringify({ model: "gpt-4.1" })));
  await page.reload();
  await cockpit.send("hello there");
  const failed = page.getByRole("alert").filter({ hasText: "The session didn’t start." });
  await expect(failed).toContainText(/no provider is set up for the model `gpt-4\.1`/i);
  await expect(cockpit.composer).toHaveValue("hello there");
  await expect(page.getByText("Starting the session…")).toHaveCount(0);
  // As a browser at 1440 by 900 lays it out when it is zoomed to 200 %.
  await page.setViewportSize({ width: 720, height: 450 });
  await failed.getByRole("button", { name: "Add a main AI" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a main AI" });
  await expect(dialog.getByRole("button", { name: "Check key" })).toBeInViewport({ ratio: 1 });
  await expect(dialog.getByRole("button", { name: "Check key" })).toBeDisabled();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(cockpit.composer).toHaveValue("hello there");
});
