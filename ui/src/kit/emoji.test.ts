import { expect, it } from "vitest";

/** What is shown: not the tests, nor what they are made of. */
const shown = import.meta.glob<string>(
  ["../../index.html", "../**/*.{ts,tsx,css}", "!../**/*.test.*", "!../**/testing/**", "!../api/schema.ts"],
  { query: "?raw", import: "default", eager: true },
);

// Where no emoji font is installed they are empty boxes. The robot is text for copying, and is drawn beside.
it("pictures are drawn, none is an emoji", () => {
  expect(Object.keys(shown).length).toBeGreaterThan(100);
  const found = Object.entries(shown).flatMap(([file, text]) =>
    (text.match(/\p{Emoji_Presentation}|\p{Emoji}\uFE0F/gu) ?? [])
      .filter((one) => one !== "🤖")
      .map((one) => `${file}: ${one}`),
  );
  expect(found).toEqual([]);
});

it("the robot is never seen as a character", () => {
  const robots = Object.entries(shown).flatMap(([file, text]) =>
    text.split("\n").flatMap((line) => (line.includes("🤖") ? [`${file}: ${line.trim()}`] : [])),
  );
  const markup = robots.filter((line) => !/: (\/\/|\/?\*)/.test(line));
  expect(markup.length).toBeGreaterThan(0);
  for (const line of markup) expect(line).toContain('<span class="robot">🤖 </span>');
  const styles = Object.entries(shown).flatMap(([file, text]) => (file.endsWith(".css") ? [text] : []));
  expect(styles.join("\n"), "hidden from eyes only").toMatch(/\.robot[^{]*\{[^}]*(clip-path|width: 1px)/);
});
