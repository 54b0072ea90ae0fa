// The main states in both colour schemes, with axe, and at the narrowest width that phones have.

import type { Cockpit } from "../harness/cockpit";
import { callsTool, type Rule } from "../harness/script";
import { expect, expectAccessible, test } from "../harness/test";

const wide = "a-word-without-an-end-".repeat(12);
const script: Rule[] = [
  {
    when: { last_user_contains: "fail" },
    reply: { status: 401, body: { error: { message: "Incorrect API key provided" } } },
  },
  ...callsTool(
    "review",
    "git_diff",
    {},
    `Look at \`${wide}\`:\n\n\`\`\`rust\nfn main() { println!("${wide}"); }\n\`\`\`\n\n| a | b |\n|---|---|\n| ${wide} | ${wide} |`,
  ),
  ...callsTool("outside", "read_file_external", { path: `/nowhere/${wide}` }, "It is not there."),
  ...callsTool(
    "agent",
    "copilot_agent",
    { prompt: `run \`echo ${wide}\` then count to 200`, session_name: "main" },
    "**Done.**",
  ),
];
const before = `fn main() {\n    println!("${wide}");\n}\n`;
test.use({
  setup: {
    policy: "ask",
    script,
    files: { "src/main.rs": before, "notes.md": "one\n" },
    changes: { "src/main.rs": before.replace("println", "eprintln"), "notes.md": "one\ntwo\n" },
  },
});

/** Goes through the states of the page, and looks at each. */
async function visit(cockpit: Cockpit, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = cockpit;
  await cockpit.expectHome();
  await look("welcome");

  await cockpit.send("review it, please");
  await expect(cockpit.answers).toHaveCount(1);
  await cockpit.log.locator("details.tool-block > summary").first().click();
  await look("stored changes");
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await expect(page.getByRole("region", { name: "Review" })).toContainText("notes.md");
  await look("review");
  await page.getByRole("button", { name: /^(Back to the conversation|Close)$/ }).click();

  const composerHeight = async () => (await cockpit.composer.boundingBox())?.height;
  const smallest = await composerHeight();
  await cockpit.send("let the agent work");
  await expect(cockpit.cards).toBeVisible();
  await cockpit.send(`something else: ${wide}`);
  await expect(page.getByRole("list", { name: "Queued messages" })).toBeVisible();
  await look("permission");
  await expect(cockpit.cards.getByRole("button", { name: "Allow" })).toBeInViewport({ ratio: 1 });
  await cockpit.cards.getByRole("button", { name: "Allow" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  // On a phone the question lies over what waits.
  await page.getByRole("button", { name: "Remove queued message" }).click();
  cockpit.lastSent = "let the agent work";
  await cockpit.copilot().expectRunning();
  await cockpit.copilot().reaches(100);
  await look("running");
  expect(await composerHeight(), "height of the empty composer while a turn runs").toBe(smallest);
  await cockpit.copilot().expectEnded("done");
  await cockpit.copilot().title.click();
  await cockpit.expectIdle();
  await look("finished");

  await cockpit.send("read outside");
  await expect(cockpit.cards).toBeVisible();
  await look("confirm");
  const name = cockpit.log.getByText("⚙ read_file_external");
  expect((await name.boundingBox())?.height, "the tool's name is on one line").toBeLessThan(30);
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await cockpit.expectIdle();
  await cockpit.send("fail");
  await expect(cockpit.log.getByRole("alert").first()).toBeVisible();
  await cockpit.expectIdle();
  await look("failed");

  for (const pill of ["Agent", "Model", "Permissions"] as const) {
    await cockpit.openPill(pill);
    await look(`pill-${pill}`);
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog", { name: "Find" })).toBeVisible();
  await look("palette");
  await page.keyboard.press("Escape");
  await cockpit.fromHead("Delete");
  const sure = page.getByRole("dialog", { name: "Delete this session?" });
  await expect(sure).toBeVisible();
  await look("delete");
  await sure.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Session deleted")).toBeVisible();
  await cockpit.expectHome();
  await look("deleted");
  await page.getByRole("button", { name: "Undo" }).click();
  await cockpit.openSessions();
  await look("sessions");
}

for (const scheme of ["light", "dark"] as const) {
  test(`every state is accessible in ${scheme}${scheme === "light" ? " @desktop" : ""}`, async ({
    cockpit,
    page,
  }, info) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await visit(cockpit, async (name) => {
      await page.screenshot({ path: info.outputPath(`${name}.png`) });
      await expectAccessible(page);
    });
  });
}

test("nothing scrolls sideways at 360 px @phone", async ({ cockpit, page }, info) => {
  await page.setViewportSize({ width: 360, height: 640 });
  await visit(cockpit, async (name) => {
    await page.screenshot({ path: info.outputPath(`${name}.png`) });
    await cockpit.expectNoSidewaysScroll();
  });
});

test("nothing turns where less motion is wanted @desktop", async ({ cockpit, page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await cockpit.send("let the agent work");
  await cockpit.cards.getByRole("button", { name: "Allow", exact: true }).click();
  const spinner = cockpit.copilot().spinner;
  const motion = await spinner.evaluate((element) => {
    const { animationDuration, animationIterationCount } = getComputedStyle(element);
    return { turn_s: Number.parseFloat(animationDuration), count: animationIterationCount };
  });
  expect(motion.turn_s).toBeLessThan(0.001);
  expect(motion.count).toBe("1");
  await cockpit.stop.click();
  await cockpit.expectIdle();
});
