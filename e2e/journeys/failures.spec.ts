import { expect, expectAccessible, test } from "../harness/test";

test.describe("the model refuses", () => {
  test.use({
    setup: {
      script: [
        {
          times: 1,
          reply: {
            status: 401,
            body: { error: { message: "Incorrect API key provided", type: "invalid_request_error" } },
          },
        },
        { reply: { text: "Now it works." } },
      ],
    },
  });

  test("a wrong key is said in words, still after a reload, and the message can be sent again", async ({
    cockpit,
    page,
  }) => {
    await cockpit.send("hello");
    const error = cockpit.log.getByRole("alert").first();
    await expect(error).toBeVisible();
    await expect(error).toContainText(/key|401|denied/i);
    await expect(error).not.toContainText("not-a-real-key");
    await cockpit.expectIdle();
    const words = await error.textContent();

    await page.reload();
    await expect(cockpit.mine).toHaveCount(1);
    await expect(error).toHaveText(words ?? "");
    await cockpit.log.getByRole("button", { name: "Try again" }).click();
    await expect(cockpit.answers).toHaveText(["Now it works."]);
    await expect(cockpit.mine).toContainText(["hello", "hello"]);
    await expect(cockpit.log.getByRole("button", { name: "Try again" })).toHaveCount(0);
  });
});

test.describe("the agent crashes", () => {
  test.use({ setup: { agent: "faulty" } });

  test("what it had said stays, the agent is shown as crashed, and the next message works @desktop", async ({
    cockpit,
    page,
  }) => {
    await cockpit.send("crash_mid_line");
    const copilot = cockpit.copilot();
    await copilot.expectEnded("crashed");
    await cockpit.expectIdle();
    await expect(cockpit.log.getByRole("alert").first()).toContainText("ended");
    const said = await copilot.text();
    expect(said).not.toBe("");

    await page.reload();
    await copilot.expectEnded("crashed");
    expect(await copilot.text()).toBe(said);
    await expect(cockpit.log.getByRole("alert").first()).toContainText("ended");

    await cockpit.log.getByRole("button", { name: "Continue" }).click();
    await expect(cockpit.answers.last()).toContainText("Continue with what you were doing.");
    await cockpit.expectIdle();
    await cockpit.send("say hello again");
    await expect(cockpit.answers.last()).toContainText("hello again");
    await cockpit.expectIdle();
  });

  test("an agent that says nothing can be stopped @desktop", async ({ cockpit }) => {
    await cockpit.send("no_answer");
    await cockpit.copilot().expectRunning();
    await cockpit.stop.click();
    await cockpit.copilot().expectEnded("stopped");
    await cockpit.expectIdle();
  });
});

test("a browser that is no longer let in is told how to come back, and comes back @desktop", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveText(["hello"]);
  // The page may notice by itself before the message is sent, so that is ready.
  await cockpit.composer.fill("say more");
  await page.context().clearCookies();
  await cockpit.composer.press("Enter");
  await expect(page.getByRole("heading", { name: "This device was signed out" })).toBeVisible();
  await expectAccessible(page);

  const { code } = await (await server.call("POST", "/api/devices/link", {})).json();
  await page.getByLabel("Pairing code").fill(code.toLowerCase());
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(cockpit.answers, "what was not sent is sent now").toHaveText(["hello", "more"]);
});

test("a page that has lost its key signs in again with a link @desktop", async ({ cockpit, page, server }) => {
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await expect(page.getByRole("heading", { name: "Sign in again" })).toBeVisible();
  await cockpit.signIn(await server.freshLink());
  await cockpit.expectHome();
});
