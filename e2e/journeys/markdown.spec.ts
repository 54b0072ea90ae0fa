// What an answer may hold beyond plain words.

import { expect, expectAccessible, test } from "../harness/test";

const answer = `The mean is $\\frac{a+b}{2}$, which costs $5 or $10.[^1]

$$
\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}
$$

$$
\\frac{1}{
$$

${"$$\\def\\a{\\a\\a}\\a$$"}

\`\`\`
first line
\`\`\`

\`\`\`mermaid
flowchart LR
  A[Question] --> B{Allowed?}
  B -->|yes| C[Run]
  B -->|no| D["<b onclick=x()>Decline</b>"]
\`\`\`

\`\`\`mermaid
gitGraph
  commit
\`\`\`

[^1]: Prices of **2026**.
`;
const chunks = answer.match(/[\s\S]{1,12}/g) ?? [];

test.use({ setup: { script: [{ reply: { chunks, chunk_delay_ms: 10 } }] } });

test("formulas, diagrams and footnotes are drawn, and what cannot be drawn is shown as it was written", async ({
  cockpit,
  page,
}, info) => {
  await cockpit.send("explain");
  await cockpit.expectIdle();
  const text = cockpit.answers.last();
  await expect(text.locator("math")).toHaveCount(2);
  await expect(text.locator("math mfrac")).toHaveCount(2);
  await expect(text).toContainText("which costs $5 or $10.");
  const diagram = text.getByRole("img", { name: /^Diagram/ });
  await expect(diagram.locator("rect")).toHaveCount(3);
  await expect(diagram).toContainText("<b onclick=x()>Decline</b>");
  await expect(text.locator("figure").filter({ hasText: "gitGraph" })).toContainText(
    "Shown as written: diagrams of the kind “gitGraph” are not drawn",
  );
  await expect(text.locator(".not-drawn")).toHaveCount(3);
  await expect(text.locator(".math-block").nth(1)).toContainText("\\frac{1}{");
  await expect(text.locator(".math-block").nth(2)).toContainText("\\def\\a{\\a\\a}\\a");

  const [block, line] = await text
    .locator("figure")
    .first()
    .evaluate((figure) => [figure, figure.querySelector("code")].map((part) => part?.getBoundingClientRect().top ?? 0));
  expect((line ?? 0) - (block ?? 0), "no empty line above the first").toBeLessThan(16);

  await text.getByRole("button", { name: "Footnote 1" }).click();
  const note = text.getByRole("note", { name: "Footnote 1" });
  await expect(note).toBeFocused();
  await expect(note).toContainText("Prices of 2026.");
  await expectAccessible(page);
  await cockpit.expectNoSidewaysScroll();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await diagram.scrollIntoViewIfNeeded();
    await page.screenshot({ path: info.outputPath(`${colorScheme}.png`) });
  }
});
