import type { Rule } from "../harness/script";
import { expect, expectAccessible, test } from "../harness/test";

const words = (agent: string) => Array.from({ length: 60 }, (_, index) => `${agent}-${index + 1} `);

const script: Rule[] = [
  { when: { model: "main", has_tool_result: true }, reply: { text: "Both are done." } },
  {
    when: { model: "main" },
    reply: {
      tool_calls: [
        { name: "delegate", arguments: { agent: "copilot", prompt: "write one thing", session_name: "left" } },
        { name: "delegate", arguments: { agent: "codex", prompt: "write another", session_name: "right" } },
      ],
    },
  },
  { when: { model: "coder" }, reply: { chunks: words("copilot"), chunk_delay_ms: 400 } },
  { when: { model: "codex" }, reply: { chunks: words("codex"), chunk_delay_ms: 400 } },
];

test.use({ setup: { script, realAgents: true } });

test("Copilot and Codex work at the same time, each in a card under its own name", async ({ cockpit, page }) => {
  await cockpit.send("do both");
  const [left, right] = [cockpit.copilot("left"), cockpit.copilot("right")];
  await left.reaches(20);
  await right.reaches(20);
  for (const block of [left, right]) await block.expectRunning();
  await expect(left.title).toContainText("Copilot [left]");
  await expect(right.title).toContainText("Codex [right]");

  for (const block of [left, right]) await block.expectEnded("done", 60_000);
  await cockpit.expectIdle();
  await expect(cockpit.answers.last()).toContainText("Both are done.");
  for (const visit of ["live", "reloaded"]) {
    expect(await cockpit.copilot("left").text(), visit).toBe(words("copilot").join(""));
    expect(await cockpit.copilot("right").text(), visit).toBe(words("codex").join(""));
    if (visit === "live") await page.reload();
    await expect(cockpit.answers.last()).toContainText("Both are done.");
  }
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();
});
