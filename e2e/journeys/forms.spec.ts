import { expect, expectAccessible, test } from "../harness/test";

test.use({ setup: { agent: "faulty", policy: "auto" } });

const schema = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", title: "Name of the branch", description: "Without spaces" },
    kind: { type: "string", title: "Kind", enum: ["feature", "fix"] },
    count: { type: "integer", title: "Commits", minimum: 1 },
    push: { type: "boolean", title: "Push it" },
  },
};
const ask = `calls ${JSON.stringify([
  ["elicitation/create", { mode: "form", message: "Which branch?", requestedSchema: schema }],
])}`;

test("an agent's form is filled in, also after a reload and a crash of the server", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.send(ask);
  await expect(cockpit.cards).toContainText("Which branch?");
  await expect(page).toHaveTitle(/^\(1\)/);
  await expectAccessible(page);

  await server.crash();
  await server.startAgain();
  await page.reload();
  await expect(cockpit.cards).toContainText("Which branch?");

  await cockpit.cards.getByRole("button", { name: "Send" }).click();
  await expect(cockpit.cards, "a field that is needed is missing").toHaveCount(1);
  await cockpit.cards.getByLabel("Name of the branch").fill("forms");
  await cockpit.cards.getByLabel("Kind").selectOption("fix");
  await cockpit.cards.getByLabel("Commits").fill("3");
  await cockpit.cards.getByLabel("Push it").check();
  await cockpit.cards.getByRole("button", { name: "Send" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await cockpit.copilot().expectEnded("done");
  await expect(cockpit.answers).toContainText('"content":{"name":"forms","kind":"fix","count":3,"push":true}');
});

test("an agent's form can be declined @desktop", async ({ cockpit }) => {
  await cockpit.send(ask);
  await cockpit.cards.getByRole("button", { name: "Decline" }).click();
  await expect(cockpit.cards).toHaveCount(0);
  await expect(cockpit.answers).toContainText('"action":"decline"');
});
