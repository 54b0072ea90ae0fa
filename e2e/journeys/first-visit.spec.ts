import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Cockpit, counted } from "../harness/cockpit";
import { expect, expectAccessible, test } from "../harness/test";

test("without a link there is only the login page @desktop", async ({ page, server }) => {
  const response = await page.goto(server.url);
  expect(response?.status()).toBe(401);
  await expect(page.getByRole("heading", { name: "Sign in to VoxPilot" })).toBeVisible();
  await expect(page.getByRole("textbox"), "a code, or the token").toHaveCount(2);
  expect((await page.request.get(`${server.url}/api/sessions`)).status()).toBe(401);
  await expectAccessible(page);

  await page.getByLabel("Pairing code").fill("AAAA-AAAA");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toHaveText("Wrong code. Check it and try again.");
});

test("the printed link lets one browser in, once @desktop", async ({ page, server, browser }) => {
  const cockpit = new Cockpit(page);
  await cockpit.signIn(server.link);
  await cockpit.expectHome();
  expect(page.url(), "the secret does not stay in the address").not.toContain("link=");
  await page.reload();
  await cockpit.expectHome();

  const elsewhere = await browser.newContext();
  const late = await elsewhere.newPage();
  expect((await late.goto(server.link))?.status()).toBe(401);
  await expect(late.getByRole("alert")).toContainText("This link was already used");
  await elsewhere.close();
});

test("the first message: work streams in, closes itself, and is there again after a reload", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.expectHome();
  const task = "create a file hello.txt with hello from the browser, then count to 150";
  await cockpit.send(task);

  const copilot = cockpit.copilot();
  await copilot.expectRunning();
  await expect(copilot.title).toHaveText("🤖 Demo agent [main]");
  await expect(cockpit.mine).toContainText(task);
  const early = await copilot.reaches(60);
  await copilot.reaches(early.length);

  await copilot.expectEnded("done");
  await expect(copilot.title).toHaveText("🤖 Demo agent [main] — done");
  await cockpit.expectIdle();
  await expect(cockpit.answers).toContainText(counted(150));
  expect(await readFile(join(server.work, "hello.txt"), "utf8")).toBe("hello from the browser");

  const full = await copilot.everything();
  await expect(copilot.stream).toBeVisible();
  await expect(copilot.stream).toContainText(counted(150));
  await expect(copilot.stream.locator(".agent-call")).toContainText("hello.txt");

  await page.reload();
  await expect(cockpit.mine).toHaveCount(1);
  await expect(cockpit.answers).toContainText(counted(150));
  await copilot.expectEnded("done");
  expect(await copilot.everything()).toBe(full);
});

test("a session from the list starts empty", async ({ cockpit }) => {
  await cockpit.openSessions();
  await expect(cockpit.sidebar).toContainText("No sessions yet");
  await cockpit.newSession();
  await cockpit.send("say good morning");
  await expect(cockpit.answers).toContainText("good morning");
});
