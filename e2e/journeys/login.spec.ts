import { expect, test } from "../harness/test";

test.use({ setup: { agent: "guarded" } });

test("a message waits for the login, which runs in the page, and is then sent once", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.send("say hello");
  const card = page.getByRole("article", { name: "Sign-in required" });
  await expect(card).toBeVisible();
  await page.reload();
  await expect(card, "it is still needed after a reload").toBeVisible();

  await card.getByRole("button", { name: "Sign in", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Sign in to Guarded agent" });
  await expect(dialog.getByRole("link", { name: "https://login.example/device" })).toBeVisible();
  await expect(dialog.getByText("AB12-CD34")).toBeVisible();
  await expect(dialog.getByRole("status")).toContainText("Waiting for the sign-in");
  server.agree();

  await expect(cockpit.answers).toHaveText(["hello"]);
  await expect(dialog, "nobody has to close what is over").toHaveCount(0);
  await expect(card).toHaveCount(0);
  await expect(cockpit.mine).toHaveCount(1);
});

test("a login that is closed can be begun again @desktop", async ({ cockpit, page, server }) => {
  await cockpit.send("say hello");
  const card = page.getByRole("article", { name: "Sign-in required" });
  await card.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("dialog").getByText("AB12-CD34")).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);

  server.agree();
  await card.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(cockpit.answers).toHaveText(["hello"]);
});
