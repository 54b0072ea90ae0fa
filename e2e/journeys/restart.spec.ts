import { counted } from "../harness/cockpit";
import { expect, test } from "../harness/test";

test("the server is killed in mid-stream and comes back: the page goes on, no gap and nothing twice", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.send("count to 500");
  await cockpit.copilot().reaches(200);
  await server.crash();
  await expect(page.getByRole("status").filter({ hasText: "Reconnecting" })).toBeVisible();
  const before = await cockpit.copilot().text();
  expect(before.length).toBeLessThan(counted(500).length);

  await server.startAgain();
  await expect(page.getByRole("status").filter({ hasText: "Reconnecting" })).toBeHidden();
  await cockpit.copilot().expectEnded("done");
  expect(await cockpit.copilot().text()).toBe(counted(500));
  await cockpit.expectIdle();
  await expect(cockpit.mine).toHaveCount(1);
  await expect(cockpit.answers).toHaveText([counted(500)]);

  const live = await cockpit.copilot().everything();
  await page.reload();
  await cockpit.copilot().expectEnded("done");
  expect(await cockpit.copilot().everything()).toBe(live);
});

test("a message that is written while the server is down arrives once when it is back @desktop", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.send("say before");
  await expect(cockpit.answers).toHaveText(["before"]);
  await cockpit.expectIdle();
  await server.crash();
  await cockpit.send("say after");
  await expect(page.getByRole("list", { name: "Messages on their way" })).toContainText("waiting for the connection");

  await server.startAgain();
  await expect(cockpit.answers).toHaveText(["before", "after"]);
  await expect(cockpit.mine).toHaveCount(2);
  await expect(page.getByRole("list", { name: "Messages on their way" })).toBeHidden();
});

test("a question that waits for its answer survives the server", async ({ cockpit, server, page }) => {
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveText(["hello"]);
  const id = page.url().match(/[0-9a-f-]{36}/)?.[0];
  const change = await server.call("PATCH", `/api/sessions/${id}`, { permission_policy: "ask" });
  expect(change.status).toBe(200);
  await cockpit.send("run `echo still here`");
  await expect(cockpit.cards).toContainText("echo still here");

  await server.crash();
  await server.startAgain();
  await page.reload();
  await expect(cockpit.cards).toContainText("echo still here");
  await cockpit.cards.getByRole("button", { name: "Allow" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.copilot().expectEnded("done");
  await expect(cockpit.answers.last()).toContainText("still here");
});

test("a page that is first opened while the server is down is there when it is back @desktop", async ({
  cockpit,
  page,
  server,
}) => {
  await expect(cockpit.composer).toBeVisible();
  await server.crash();
  const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("/AgentsPage-"));
  await page.evaluate(() => {
    location.hash = "#/agents";
  });
  await failed;
  await server.startAgain();
  await expect(page.getByRole("heading", { name: "Demo agent" })).toBeVisible();
});
