// What changed, from the figures in the head to the review that is sent.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { callsTool, type Rule } from "../harness/script";
import type { Server } from "../harness/server";
import { expect, expectAccessible, test } from "../harness/test";

const lines = Array.from({ length: 30 }, (_, at) => `    step(${at});`).join("\n");
const before = `fn main() {\n    println!("hello");\n${lines}\n}\n`;
const after = before.replace("println", "eprintln");
/** Two changes, far enough from each other to be taken back apart. */
const twice = after.replace("step(29)", "step(30)");

/** What the main AI has to receive, to the letter, before it answers. */
const noted = [
  "Review: I ask for changes.",
  "Nearly there.",
  "## src/main.rs",
  "src/main.rs:2",
  '>     eprintln!("hello");',
  "Why so loud?",
  "src/main.rs:3-5",
  ">     step(0);\n>     step(1);\n>     step(2);",
  "All of it.",
  "src/main.rs (the whole file)",
  "Split it.",
].join("\n\n");
const ofArtifact = ["Review: I ask for changes.", "## notes.md", "notes.md:2", "> two", "Why two?"].join("\n\n");

/** One grey pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
  "base64",
);

const script: Rule[] = [
  { when: { last_user_contains: noted }, reply: { text: "Because errors are read." } },
  { when: { last_user_contains: ofArtifact }, reply: { text: "Two is enough." } },
  { when: { last_user_contains: "Why so loud?" }, reply: { text: "Something of it is missing." } },
  { when: { last_user_contains: "Modified src/main.rs" }, reply: { text: "main: say it louder" } },
  ...callsTool("show the diff", "git_diff", {}, "One line is new."),
  ...callsTool(
    "extend it",
    "copilot_agent",
    { prompt: "create a file called more.txt with the text more", session_name: "main" },
    "Written.",
  ),
  ...callsTool(
    "do the work",
    "copilot_agent",
    { prompt: "run `sh ../work.sh`", session_name: "main" },
    "The work is done.",
  ),
  { when: { last_user_contains: "hello" }, reply: { text: "Hello." } },
  { reply: { text: "main: say it louder" } },
];

test.use({
  setup: {
    script,
    files: {
      "src/main.rs": before,
      "notes.md": "one\n",
      "old-name.txt": "kept\nas it is\n",
      "gone.txt": "last words\n",
      "logo.bin": "\u0000\u0001\u0002",
      "dot.png": png,
    },
    changes: { "notes.md": "one\ntwo\n" },
  },
});

const reviewOf = (page: Page) => page.getByRole("region", { name: "Review" });
const fileOf = (page: Page, path: string) => page.getByRole("article", { name: path });
const numberOf = (file: Locator, line: number) =>
  file.locator("td.gutter[data-side=new]", { hasText: new RegExp(`^${line}$`) }).first();
const idOf = (page: Page) => page.url().match(/[0-9a-f-]{36}/)?.[0] ?? "";

/** A session that has begun, whose beginning git knows: that is taken down beside the first turn. */
async function begin(cockpit: Cockpit, server: Server): Promise<void> {
  await cockpit.send("hello");
  await expect(cockpit.answers).toHaveCount(1);
  await cockpit.expectIdle();
  const known = async () => {
    const path = `/api/sessions/${idOf(cockpit.page)}/changes?since=session&summary=true`;
    return (await (await server.call("GET", path)).json()).source;
  };
  await expect.poll(known).toBe("git");
}

/** A turn in which an agent runs this. */
async function workBy(cockpit: Cockpit, server: Server, script: string): Promise<void> {
  await begin(cockpit, server);
  writeFileSync(join(server.directory, "work.sh"), script);
  await cockpit.send("do the work");
  await expect(cockpit.answers.last()).toContainText("The work is done.");
  await cockpit.expectIdle();
}

/** A turn in which an agent changes a file. */
async function work(cockpit: Cockpit, server: Server, text = after): Promise<void> {
  writeFileSync(join(server.directory, "main.rs"), text);
  await workBy(cockpit, server, "cp ../main.rs src/main.rs");
}

/** Straight to the review of the session on the page. */
async function openReview(page: Page): Promise<void> {
  await page.evaluate(() => {
    location.hash = `${location.hash}/review`;
  });
  await expect(fileOf(page, "src/main.rs").locator("ins").first()).toHaveText("eprintln");
}

test("a line, a range and a file are commented on over a reload, and the main AI receives exactly that @desktop", async ({
  cockpit,
  server,
}) => {
  const { page } = cockpit;
  await work(cockpit, server);
  await page.getByRole("button", { name: /^1 file/ }).click();
  const panel = page.getByRole("complementary", { name: "Changes" });
  await expect(panel).toContainText("eprintln");
  await panel.getByRole("button", { name: "Review", exact: true }).click();
  const main = fileOf(page, "src/main.rs");
  await expect(reviewOf(page)).toContainText("eprintln");
  await expectAccessible(page);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText("In review");
  await page.keyboard.press("Escape");

  await numberOf(main, 2).click();
  await page.keyboard.type("Why so loud?");
  await page.reload();
  await expect(main.getByRole("textbox", { name: "Comment" })).toHaveValue("Why so loud?");
  await main.getByRole("button", { name: "Add comment" }).click();
  await expect(main.getByRole("article", { name: "Comment, Line 2" })).toContainText("Why so loud?");

  await numberOf(main, 3).hover();
  await page.mouse.down();
  await numberOf(main, 5).hover();
  await page.mouse.up();
  await page.keyboard.type("All of it.");
  await page.keyboard.press("Control+Enter");
  await expect(main.getByRole("article", { name: "Comment, Lines 3–5" })).toContainText("All of it.");

  await page.getByRole("button", { name: "More for src/main.rs" }).click();
  await page.getByRole("menuitem", { name: "Comment on the file" }).click();
  await page.keyboard.type("Split it.");
  await page.keyboard.press("Control+Enter");
  await expect(main.getByRole("article", { name: "Comment, The whole file" })).toContainText("Split it.");
  await page.reload();
  await expect(main.getByRole("article", { name: /^Comment, / })).toHaveCount(3);

  await page.getByRole("button", { name: /^Send review/ }).click();
  const dialog = page.getByRole("dialog", { name: "Send review" });
  await dialog.getByRole("textbox", { name: "Summary" }).fill("Nearly there.");
  await expect(dialog.getByRole("button", { name: "Main AI" })).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Send 3 comments" }).click();
  await expect(cockpit.mine.last()).toContainText("All of it.");
  await expect(cockpit.answers.last()).toContainText("Because errors are read.");
  const { messages } = await (await server.call("GET", `/api/sessions/${idOf(page)}/messages`)).json();
  const sent = messages.findLast((message: { role: string }) => message.role === "user");
  expect(sent.content).toBe(noted);

  await openReview(page);
  const remark = main.getByRole("article", { name: "Sent comment, Line 2" });
  await expect(remark).toContainText("Kept here until you resolve it.");
  await expectAccessible(page);
  await remark.getByRole("button", { name: "Resolve" }).click();
  await expect(remark).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(remark).toBeVisible();
  await remark.getByRole("button", { name: "Resolve" }).click();
  await expect(remark).toHaveCount(0);
  await page.reload();
  await expect(main.getByRole("article", { name: "Sent comment, Lines 3–5" })).toBeVisible();
  await expect(remark).toHaveCount(0);
  const left = async () => (await (await server.call("GET", `/api/sessions/${idOf(page)}/review`)).json()).sent.length;
  await expect.poll(left).toBe(2);
});

test("a change is taken back and given back, then the file, and it is committed with a drafted message @desktop", async ({
  cockpit,
  server,
}) => {
  const { page } = cockpit;
  await work(cockpit, server, twice);
  await openReview(page);
  const read = () => readFileSync(join(server.work, "src/main.rs"), "utf8");
  const undo = page.getByRole("button", { name: "Undo" });
  const main = fileOf(page, "src/main.rs");
  await main.getByRole("button", { name: "Revert change 2" }).click();
  await page.getByRole("dialog", { name: "Revert this change?" }).getByRole("button", { name: "Revert" }).click();
  await expect.poll(read).toBe(after);
  await expect(main).not.toContainText("step(30)");
  await undo.click();
  await expect.poll(read).toBe(twice);
  await expect(main).toContainText("step(30)");

  await page.getByRole("button", { name: "More for src/main.rs" }).click();
  await page.getByRole("menuitem", { name: "Revert the file" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revert" }).click();
  await expect.poll(read).toBe(before);
  await undo.click();
  await expect.poll(read).toBe(twice);
  await expect(main.locator("ins").first()).toHaveText("eprintln");

  await page.getByRole("button", { name: "Commit", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Commit" });
  await expect(dialog.getByRole("checkbox", { name: /notes\.md/ }), "no agent wrote it").not.toBeChecked();
  await dialog.getByRole("button", { name: "Draft a message" }).click();
  await expect(dialog.getByRole("textbox", { name: "Commit message" })).toHaveValue("main: say it louder");
  await dialog.getByRole("button", { name: "Commit 1 file" }).click();
  await expect(page.getByText(/^Committed [0-9a-f]{8}/)).toBeVisible();
  await page.getByRole("button", { name: /^Changes: / }).click();
  await page.getByRole("menuitemradio", { name: "Uncommitted" }).click();
  await expect(main).toHaveCount(0);
});

test("what was viewed stays so, until it changes @desktop", async ({ cockpit, server }) => {
  const { page } = cockpit;
  await work(cockpit, server);
  await openReview(page);
  const box = fileOf(page, "src/main.rs").getByRole("checkbox", { name: "Viewed" });
  await page.keyboard.press("v");
  await expect(box).toBeChecked();
  await page.reload();
  await expect(box).toBeChecked();
  writeFileSync(join(server.work, "src/main.rs"), after.replace("hello", "bye"));
  await page.reload();
  await expect(box).not.toBeChecked();
});

test("what an agent changes meanwhile is told, and shown when somebody wants it, nothing lost @desktop", async ({
  cockpit,
  server,
}) => {
  const { page } = cockpit;
  await work(cockpit, server);
  await openReview(page);
  const form = fileOf(page, "src/main.rs").getByRole("textbox", { name: "Comment" });
  await numberOf(fileOf(page, "src/main.rs"), 2).click();
  await page.keyboard.type("half a thou");
  const body = { content: "extend it", client_id: crypto.randomUUID() };
  expect((await server.call("POST", `/api/sessions/${idOf(page)}/messages`, body)).ok).toBe(true);
  await expect(page.getByText("Changed since")).toBeVisible();
  await expect(form, "whoever writes goes on").toBeFocused();
  await expect(fileOf(page, "more.txt")).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(fileOf(page, "more.txt")).toContainText("more");
  await expect(page.getByText("Changed since")).toHaveCount(0);
  await expect(form).toHaveValue("half a thou");
});

test("files that were renamed, deleted, are binary or large say so @desktop", async ({ cockpit, server }) => {
  const { page } = cockpit;
  const at = (name: string) => join(server.directory, name);
  writeFileSync(at("logo.bin"), Buffer.from([0, 1, 2, 3]));
  writeFileSync(at("large.txt"), "a line of a file that is large\n".repeat(30_000));
  writeFileSync(at("main.rs"), after);
  const moves = "mv old-name.txt new-name.txt; rm gone.txt; cp ../logo.bin ../large.txt .; cp ../main.rs src/main.rs";
  await workBy(cockpit, server, moves);
  await openReview(page);
  const renamed = fileOf(page, "new-name.txt");
  await expect(renamed).toContainText("old-name.txt");
  await expect(renamed).toContainText("Renamed, no other changes.");
  const gone = fileOf(page, "gone.txt");
  await expect(gone).toContainText("deleted");
  await expect(gone).toContainText("last words");
  await expect(fileOf(page, "logo.bin")).toContainText("Binary file, 3 B before, 4 B now. No lines to show.");
  const large = fileOf(page, "large.txt");
  await expect(large).toContainText("Too large to show at once.");
  await expectAccessible(page);
  await large.getByRole("button", { name: "Show anyway" }).click();
  await expect(large).toContainText("a line of a file that is large");
});

test("a stored diff opens in the review, is commented on, and the review of it is answered @desktop", async ({
  cockpit,
  page,
}) => {
  await cockpit.send("show the diff");
  await expect(cockpit.answers.last()).toContainText("One line is new.");
  await cockpit.expectIdle();
  await page
    .getByRole("region", { name: /^Changes/ })
    .getByRole("link", { name: "Review" })
    .click();
  const notes = fileOf(page, "notes.md");
  await expect(notes).toContainText("two");
  await expect(page.getByRole("button", { name: "Commit", exact: true }), "it is what it was").toHaveCount(0);
  await numberOf(notes, 2).click();
  await page.keyboard.type("Why two?");
  await page.keyboard.press("Control+Enter");
  await expect(notes.getByRole("article", { name: "Comment, Line 2" })).toBeVisible();
  const box = notes.getByRole("checkbox", { name: "Viewed" });
  await page.keyboard.press("v");
  await expect(box).toBeChecked();
  await page.reload();
  await expect(box).toBeChecked();
  await expectAccessible(page);
  await page.getByRole("button", { name: /^Send review/ }).click();
  await page.getByRole("dialog", { name: "Send review" }).getByRole("button", { name: "Send 1 comment" }).click();
  await expect(cockpit.mine.last()).toContainText("Why two?");
  await expect(cockpit.answers.last()).toContainText("Two is enough.");
});

test.describe("without a main AI", () => {
  test.use({ setup: { files: { "notes.md": "one\n" }, changes: { "notes.md": "one\n" } } });

  test("a review goes to the agent, word by word @desktop", async ({ cockpit, server }) => {
    const { page } = cockpit;
    await cockpit.send("create a file called note.txt with the text hello");
    await cockpit.copilot().expectEnded("done");
    await cockpit.expectIdle();
    await page.getByRole("region", { name: "Files of this turn" }).getByRole("link", { name: "Review" }).click();
    const note = fileOf(page, "note.txt");
    await numberOf(note, 1).click();
    await page.keyboard.type("say goodbye");
    await page.keyboard.press("Control+Enter");
    await expect(note.getByRole("article", { name: "Comment, Line 1" })).toBeVisible();
    await page.keyboard.press("Control+Enter");
    const dialog = page.getByRole("dialog", { name: "Send review" });
    await expect(dialog.getByText("Main AI")).toHaveCount(0);
    await dialog.getByRole("button", { name: "Send 1 comment" }).click();
    await expect(cockpit.answers).toHaveCount(2);
    await cockpit.expectIdle();
    const digest = ["Review: I ask for changes.", "## note.txt", "note.txt:1", "> hello", "say goodbye"].join("\n\n");
    const { entries } = await (
      await server.call("GET", `/api/sessions/${idOf(page)}/trace?method=session/prompt&direction=to-agent`)
    ).json();
    expect(entries[0].payload.params.prompt, "what the agent was sent").toEqual([{ type: "text", text: digest }]);
  });
});

test("an image is shown as it was beside what it is now, and other binary files say how large they are", async ({
  cockpit,
  server,
}) => {
  const { page } = cockpit;
  await workBy(cockpit, server, "printf more >> dot.png; printf more >> logo.bin");
  await page.evaluate(() => {
    location.hash = `${location.hash}/review`;
  });
  const sides = page.locator(".picture-diff figure");
  await expect(sides).toHaveText(["Before · 1 × 1 · 67 B", "After · 1 × 1 · 71 B"]);
  const [before, after] = await Promise.all([sides.first().boundingBox(), sides.last().boundingBox()]);
  expect(after?.y).toBe(before?.y);
  expect(after?.x).toBeGreaterThan(before?.x ?? 0);
  await expectAccessible(page);
  if (cockpit.isPhone) await page.getByRole("button", { name: "Viewed, next file" }).tap();
  await expect(page.getByText("Binary file, 3 B before, 7 B now. No lines to show.")).toBeVisible();
});

test("a file is a page, and a line that is tapped can be commented on @phone", async ({ cockpit, server }) => {
  const { page } = cockpit;
  await work(cockpit, server);
  await page.evaluate(() => {
    location.hash = `${location.hash}/review`;
  });
  await expect(page.getByRole("heading", { name: "main.rs" })).toBeVisible();
  await page.getByText('eprintln!("hello");').tap();
  await page.getByRole("button", { name: "Comment on line 2" }).tap();
  const sheet = page.getByRole("dialog", { name: "Comment" });
  await sheet.getByRole("textbox", { name: "Comment" }).fill("Why so loud?");
  await expectAccessible(page);
  await sheet.getByRole("button", { name: "Add comment" }).tap();
  await expect(page.getByRole("article", { name: "Comment, Line 2" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Viewed, send review" }).tap();
  await page.getByRole("dialog", { name: "Send review" }).getByRole("button", { name: "Send 1 comment" }).tap();
  await expect(cockpit.answers.last()).toContainText("Something of it is missing.");
});
