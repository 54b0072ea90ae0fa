import { resolve } from "node:path";
import type { Rule } from "../harness/script";
import { expect, test } from "../harness/test";

const before = `/// How many entries a file has.
pub fn count(text: &str) -> usize {
    text.lines().count()
}
`;
const makefile = `test:
	@echo 'running 4 tests'
	@echo 'test result: ok. 4 passed; 0 failed'
bench:
	@echo 'count/1000 lines  12.4 us'
	@sleep 60
`;
const fix =
  "In src/count.rs, replace `text.lines().count()` with `text.lines().filter(|line| !line.trim().is_empty()).count()`, then run `make test`";
const measure = "List the files in src, then run `make bench`";
const summary = `Done. \`count\` skips blank lines now, and all four tests pass:

\`\`\`rust
text.lines().filter(|line| !line.trim().is_empty()).count()
\`\`\`
`;

const delegate = (prompt: string, session_name: string): Rule["reply"] => ({
  tool_calls: [{ name: "copilot_agent", arguments: { prompt, session_name } }],
});
const script: Rule[] = [
  { when: { last_user_contains: "blank", has_tool_result: true }, reply: { text: summary } },
  { when: { last_user_contains: "blank" }, reply: delegate(fix, "fix") },
  { when: { last_user_contains: "fast" }, reply: delegate(measure, "bench") },
];
test.use({ setup: { script, files: { "src/count.rs": before, Makefile: makefile } } });

test("the picture of the documentation", async ({ cockpit, page, server }) => {
  for (const title of [
    "Release notes for 0.4",
    "Why is CI slow?",
    "Upgrade the HTTP client",
    "Blank lines in the counter",
  ]) {
    const made = await server.call("POST", "/api/sessions", { title });
    expect(made.ok).toBe(true);
  }
  await page.reload();
  await cockpit.sidebar.getByRole("link", { name: "Blank lines in the counter" }).click();
  await cockpit.send("A review comment says that blank lines should not count as entries. Please fix it.");
  await cockpit.copilot("fix").expectEnded("done");
  await cockpit.expectIdle();
  await cockpit.send("Is it as fast as before?");
  const bench = cockpit.copilot("bench");
  await bench.expectRunning();
  const call = bench.stream.locator(".agent-call", { hasText: "make bench" });
  await expect(call.getByRole("img", { name: "in progress" })).toBeVisible();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: resolve(import.meta.dirname, "../../docs/screenshot.png") });
  await cockpit.stop.click();
  await cockpit.expectIdle();
});
