import { Cockpit, counted } from "../harness/cockpit";
import { expect, test } from "../harness/test";

// Holds S1-68, S3-17, S3-V1.
test("a page that is reloaded in mid-stream ends with the same bytes as one that never left @desktop", async ({
  cockpit,
  page,
  browser,
  server,
}) => {
  await cockpit.send("say hello");
  await cockpit.expectIdle();
  const elsewhere = await browser.newContext({ viewport: page.viewportSize() });
  const witness = new Cockpit(await elsewhere.newPage());
  await witness.signIn(await server.freshLink());
  await witness.openSession();
  await expect(witness.answers).toHaveCount(1);

  await cockpit.send("count to 800");
  await cockpit.copilot().reaches(40);
  await page.reload();
  await cockpit.copilot().expectRunning();
  const caughtUp = await cockpit.copilot().reaches(100);
  expect(counted(800).startsWith(caughtUp)).toBe(true);
  await cockpit.copilot().reaches(caughtUp.length);
  await witness.copilot().expectRunning();

  await cockpit.copilot().expectEnded("done");
  await witness.copilot().expectEnded("done");
  expect(await cockpit.copilot().text()).toBe(counted(800));
  expect(await cockpit.copilot().everything()).toBe(await witness.copilot().everything());
  await expect(cockpit.answers).toHaveText(["hello", counted(800)]);
  await expect(witness.answers).toHaveText(["hello", counted(800)]);
  await elsewhere.close();
});

test("two browsers side by side: what one sends, the other shows @desktop", async ({
  cockpit,
  page,
  browser,
  server,
}) => {
  await cockpit.send("say one");
  await expect(cockpit.answers).toHaveCount(1);
  const elsewhere = await browser.newContext({ viewport: page.viewportSize() });
  const other = new Cockpit(await elsewhere.newPage());
  await other.signIn(await server.freshLink());
  await other.openSession();
  await expect(other.answers).toHaveText(["one"]);

  await other.send("say two");
  await expect(cockpit.mine).toHaveCount(2);
  await expect(cockpit.answers).toHaveText(["one", "two"]);
  await expect(other.answers).toHaveText(["one", "two"]);
  await elsewhere.close();
});
