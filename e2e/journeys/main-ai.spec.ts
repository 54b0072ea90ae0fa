import { counted } from "../harness/cockpit";
import { processesOf } from "../harness/processes";
import { callsTool, type Rule } from "../harness/script";
import { expect, test } from "../harness/test";

const source = "fn sum(a: i32, b: i32) -> i32 {\n    a - b\n}\n";
const answer = `## What I found

The **bug** is in \`sum\`:

\`\`\`rust
fn sum(a: i32, b: i32) -> i32 {
    a - b // the sign is "wrong"
}
\`\`\`

<script>window.owned = true</script>

<img src="x" onerror="window.owned = true"> and [a link](javascript:alert(1))
`;
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index + 1}`).join(" ");

const script: Rule[] = [
  {
    when: { last_user_contains: "explain" },
    reply: { chunks: answer.match(/[\s\S]{1,24}/g) ?? [], chunk_delay_ms: 20 },
  },
  ...callsTool("look into", "read_file", { path: "src/sum.rs" }, "It subtracts."),
  ...callsTool("review", "git_diff", {}, "One line differs."),
  ...callsTool("hosts", "read_file_external", { path: "/etc/hosts" }, "That is all I can say about the hosts."),
  {
    when: { last_user_contains: "both", has_tool_result: true },
    reply: { text: "Both are done." },
  },
  {
    when: { last_user_contains: "both" },
    reply: {
      tool_calls: [
        { name: "copilot_agent", arguments: { prompt: "count to 150", session_name: "numbers" } },
        { name: "copilot_agent", arguments: { prompt: "write 150 words", session_name: "letters" } },
      ],
    },
  },
];

test.use({
  setup: {
    script,
    files: { "src/sum.rs": source },
    changes: { "src/sum.rs": source.replace("a - b", "a + b") },
  },
});

test("an answer is rendered, its code coloured, and its HTML shown as text", async ({ cockpit, page }) => {
  await cockpit.send("explain the bug");
  const article = cockpit.answers;
  await expect(article.getByRole("heading", { name: "What I found" })).toBeVisible();
  await expect(article.locator("strong")).toHaveText("bug");
  await cockpit.expectIdle();

  const code = article.locator("pre code");
  await expect(code).toContainText("a - b // the sign");
  const countColours = () =>
    code.evaluate((element) => {
      const spans = [...element.querySelectorAll("span")];
      return new Set(spans.map((span) => getComputedStyle(span).color)).size;
    });
  // They come from a worker, after the text.
  await expect.poll(countColours, "colours of the code").toBeGreaterThan(2);

  await expect(article).toContainText("<script>window.owned = true</script>");
  await expect(article.locator("script, img, [onerror], a[href^='javascript']")).toHaveCount(0);
  expect(await page.evaluate(() => "owned" in window)).toBe(false);
  await page.reload();
  await expect(article.locator("pre code")).toContainText("a - b // the sign");
  await expect(article.locator("script, img")).toHaveCount(0);
});

test("a tool call is a block with what was asked and what came out @desktop", async ({ cockpit, page }) => {
  await cockpit.send("look into it");
  await expect(cockpit.answers).toContainText("It subtracts.");
  const block = cockpit.log.locator("details.tool-block").filter({ hasText: "⚙ read_file" });
  await expect(block).not.toHaveAttribute("open");
  await expect(block.locator("summary")).toContainText("src/sum.rs");
  await block.locator("summary").click();
  await expect(block.locator("pre.tool-output")).toContainText("a + b");
  await page.reload();
  await expect(block.locator("summary")).toContainText("src/sum.rs");
});

test("a diff comes as a card for review", async ({ cockpit, page }) => {
  await cockpit.send("review the changes");
  const card = page.getByRole("region", { name: /^Changes/ });
  await expect(card).toContainText("1 file");
  await expect(cockpit.answers).toContainText("One line differs.");
  await cockpit.expectNoSidewaysScroll();
  await card.getByRole("link", { name: "Review" }).click();
  const diff = page.getByRole("group", { name: "Change of src/sum.rs" });
  for (const visit of ["live", "reloaded"]) {
    await expect(diff, visit).toContainText("a - b");
    await expect(diff, visit).toContainText("a + b");
    if (visit === "live") await page.reload();
  }
  await page.getByRole("button", { name: /^(Back to the conversation|Close)$/ }).click();
  await expect(card).toContainText("src/sum.rs");
});

test("a file outside the work directory is read only when somebody allows it", async ({ cockpit, page }) => {
  await cockpit.send("read my hosts");
  await expect(cockpit.cards).toContainText("/etc/hosts");
  await expect(page).toHaveTitle(/^\(1\)/);
  await page.reload();
  await expect(cockpit.cards).toContainText("/etc/hosts");
  await cockpit.cards.getByRole("button", { name: "Allow" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  const block = cockpit.log.locator("details.tool-block").filter({ hasText: "⚙ read_file_external" });
  await block.last().locator("summary").click();
  await expect(block.last().locator("pre.tool-output")).toContainText("localhost");
  await cockpit.expectIdle();

  await cockpit.send("and the hosts again");
  await cockpit.cards.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.expectIdle();
  await expect(cockpit.answers).toHaveCount(2);
  await block.last().locator("summary").click();
  await expect(block.last().locator("pre.tool-output")).not.toContainText("localhost");
});

// Holds S1-5, S1-11, S1-66, S1-67, S1-69, S1-70, S1-71, S1-81, S1-V5, S1-V6, S1-V13.
test("two agents at once: each in its own block, on one process @desktop", async ({ cockpit, page, server }) => {
  await cockpit.send("do both");
  const [numbers, letters] = [cockpit.copilot("numbers"), cockpit.copilot("letters")];
  await numbers.expectRunning();
  await letters.expectRunning();
  await numbers.reaches(20);
  await letters.reaches(20);
  const agents = processesOf(server.directory).filter(({ command }) => command.endsWith("demo-agent"));
  expect(agents).toHaveLength(1);

  await numbers.expectEnded("done");
  await letters.expectEnded("done");
  await expect(cockpit.answers).toHaveText(["Both are done."]);
  for (const visit of ["live", "reloaded"]) {
    expect(await numbers.text(), visit).toBe(counted(150));
    expect(await letters.text(), visit).toBe(words(150));
    if (visit === "live") await page.reload();
    await numbers.expectEnded("done");
    await letters.expectEnded("done");
  }
});
