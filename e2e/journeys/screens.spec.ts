// The screens at work, as they are shown in docs/screens: in both schemes, at every size, without a fault.

import type { Page } from "@playwright/test";
import type { Cockpit } from "../harness/cockpit";
import { photograph } from "../harness/screens";
import type { Server } from "../harness/server";
import { parcel } from "../harness/stage/parcel";
import { age, asksFirst, endAll, fillList, make } from "../harness/stage/rows";
import { expect, test } from "../harness/test";

test.use({ setup: parcel, serviceWorkers: "block" });
// Every picture is one of each scheme and size, and each is judged.
test.describe.configure({ timeout: 600_000 });
test.afterEach(async ({ server }) => await endAll(server));

const wish =
  "Add a rate limit per API key: 60 a minute, bursts of 20, answer 429 with Retry-After. Tests and docs too.";

/** A session of that name, open. */
async function open(cockpit: Cockpit, server: Server, title = "Rate-limit the public API"): Promise<string> {
  const id = await make(server, title);
  await cockpit.page.goto(`${server.url}/#/sessions/${id}`);
  await expect(cockpit.log).toBeVisible();
  return id;
}

/** The list is beside everything on a desk, and filling it takes a while. */
async function fill(server: Server, page: Page): Promise<void> {
  await fillList(server);
  await age(page);
}

test.describe("with questions from the start", () => {
  test.use({ setup: { ...parcel, policy: "ask" } });

  test("home, with something in every group of the list", async ({ cockpit, page, server }, info) => {
    await fill(server, page);
    await page.reload();
    await cockpit.openSessions();
    await expect(cockpit.sidebar).toContainText("Seed data for the demo");
    await photograph(page, info, "home");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("table");
    await expect(page.getByRole("option").first()).toBeVisible();
    await photograph(page, info, "palette");
  });
});

test("a conversation at work, with a queue", async ({ cockpit, page, server }, info) => {
  await fill(server, page);
  const id = await open(cockpit, server);
  await cockpit.send(`One client polls \`/v1/track\` in a loop and the API falls over. ${wish}`);
  await expect(cockpit.copilot("limiter").stream).toContainText("two_keys_do_not_share");
  await cockpit.send("Also log the name of the key that is limited, never the key itself");
  await cockpit.send("Then open a pull request against main");
  await expect(page.locator(".queue-item")).toHaveCount(2);
  await asksFirst(server, id);
  await expect(page.getByRole("button", { name: "Permissions: Ask" })).toBeAttached();
  await photograph(page, info, "conversation");
});

test("three agents at once, and what one of them asks", async ({ cockpit, page, server }, info) => {
  const id = await open(cockpit, server);
  await cockpit.send("Good. Go ahead: limiter, tests and docs at the same time.");
  await expect(cockpit.copilot("docs").title).toContainText("done");
  await expect(cockpit.copilot("limiter").stream).toContainText("Checking parcel-http");
  await photograph(page, info, "parallel");
  await asksFirst(server, id);
  await expect(cockpit.cards).toContainText("docker compose up");
  await photograph(page, info, "permission");
  await cockpit.cards.getByRole("button", { name: "Always…" }).click();
  await expect(page.getByRole("button", { name: "Always allow this command" })).toBeEnabled();
  await photograph(page, info, "permission-always");
  await page.getByRole("button", { name: "Cancel" }).click();
  await cockpit.cards.getByRole("button", { name: "Deny with a reason" }).click();
  await cockpit.cards.getByRole("textbox", { name: "Reason" }).fill("No containers here. Use the store in memory.");
  await photograph(page, info, "permission-reason");
});

test("a change that is asked for", async ({ cockpit, page, server }, info) => {
  const id = await open(cockpit, server, "Harden the limits");
  await cockpit.send("Harden the limits: zero makes no sense.");
  await expect(cockpit.copilot("limiter").stream).toContainText("config.rs");
  await asksFirst(server, id);
  await expect(cockpit.cards).toContainText("NonZeroU32");
  await photograph(page, info, "permission-change");
});

test("what was done, what changed, and the review of it", async ({ cockpit, page, server }, info) => {
  const isPhone = info.project.name === "phone";
  await open(cockpit, server);
  await cockpit.send(`Just do it: ${wish[0]?.toLowerCase()}${wish.slice(1)}`);
  await expect(cockpit.answers.last()).toContainText("Two things to know");
  await cockpit.expectIdle();
  await expect(cockpit.log.getByText("5 files changed")).toBeVisible();
  await expect(page.locator("header.head")).toContainText("5 files");
  await photograph(page, info, "done");
  if (!isPhone) {
    await page.getByRole("button", { name: /^5 files/ }).click();
    await expect(page.getByRole("complementary", { name: "Changes" })).toContainText("RateLimit::per_key");
    await photograph(page, info, "changes");
  }
  await page.evaluate(() => {
    location.hash = `${location.hash}/review`;
  });
  if (isPhone) await reviewOnPhone(page);
  else await reviewOnDesk(page);
  if (!isPhone) await view(page, "Unified");
  await photograph(page, info, "review");
  if (!isPhone) {
    await view(page, "Split");
    await photograph(page, info, "review-split");
    await page.getByRole("button", { name: /^Send review/ }).click();
  } else await page.getByRole("button", { name: /^Send/ }).click();
  const dialog = page.getByRole("dialog", { name: "Send review" });
  await dialog.getByRole("textbox", { name: "Summary" }).fill("Nearly there. See the comment.");
  await photograph(page, info, "review-send");
});

/** The file with the comment, drawn so. */
async function view(page: Page, how: "Unified" | "Split"): Promise<void> {
  await page
    .getByRole("radio", { name: how })
    .or(page.getByRole("button", { name: how }))
    .click();
  await page.getByRole("article", { name: "src/http/router.rs" }).scrollIntoViewIfNeeded();
}

const remark =
  "Layers run from the bottom up, so the limit must stand **above** `auth` here. Is there a test for that?";

async function reviewOnDesk(page: Page): Promise<void> {
  const file = page.getByRole("article", { name: "src/http/router.rs" });
  await page.getByRole("article", { name: "docs/api.md" }).getByRole("checkbox", { name: "Viewed" }).check();
  await page.getByRole("article", { name: "src/config.rs" }).getByRole("checkbox", { name: "Viewed" }).check();
  const line = file.locator("tr", { hasText: "RateLimit::per_key" }).locator("td.gutter[data-side=new]").last();
  await line.click();
  await page.keyboard.type(remark);
  await file.getByRole("button", { name: "Add comment" }).click();
  await expect(file.getByRole("article", { name: /^Comment, / })).toBeVisible();
}

async function reviewOnPhone(page: Page): Promise<void> {
  for (const [at, name] of ["api.md", "config.rs", "limit.rs"].entries()) {
    await expect(page.getByRole("heading", { name })).toBeVisible();
    if (at < 3) await page.getByRole("button", { name: "Viewed, next file" }).tap();
  }
  await expect(page.getByRole("heading", { name: "router.rs" })).toBeVisible();
  await page.getByText("RateLimit::per_key").tap();
  await page.getByRole("button", { name: /^Comment on line/ }).tap();
  const sheet = page.getByRole("dialog", { name: "Comment" });
  await sheet.getByRole("textbox", { name: "Comment" }).fill(remark);
  await sheet.getByRole("button", { name: "Add comment" }).tap();
  await expect(page.getByRole("article", { name: /^Comment, / })).toBeVisible();
}

test("turns that did not end well", async ({ cockpit, page, server }, info) => {
  await open(cockpit, server, "Try tokio 1.50 on staging");
  await cockpit.send("Try tokio 1.50 on staging");
  await expect(cockpit.log.getByRole("alert").first()).toBeVisible();
  await photograph(page, info, "failed");
  const id = await make(server, "Move fixtures to factories", { model: "relay" });
  await page.goto(`${server.url}/#/sessions/${id}`);
  await cockpit.send("Move the fixtures to factories");
  await cockpit.copilot().expectEnded("crashed");
  await photograph(page, info, "interrupted");
  await open(cockpit, server, "Flaky test in webhook retries");
  await cockpit.send("Why is the webhook test flaky?");
  await expect(cockpit.copilot().stream).toContainText("running 31 tests");
  await cockpit.stop.click();
  await cockpit.copilot().expectEnded("stopped");
  await cockpit.expectIdle();
  await photograph(page, info, "stopped");
});
