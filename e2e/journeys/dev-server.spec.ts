import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Devices } from "../harness/devices";
import { expect, test } from "../harness/test";

test("a server on another port of the host gets the cookie and can do nothing with it @desktop", async ({
  cockpit,
  page,
  server,
}) => {
  await cockpit.send("say hello");
  await expect(cockpit.answers).toHaveText(["hello"]);

  const cookies: string[] = [];
  const thief = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.setHeader("content-type", "text/html").end("<title>dev server</title>");
  });
  await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
  const port = (thief.address() as AddressInfo).port;
  try {
    const preview = await page.context().newPage();
    await preview.goto(`http://127.0.0.1:${port}/`);
    const cookie = cookies[0] ?? "";
    expect(cookie, "browsers do send it to every port").toContain("voxpilot_");

    for (const [method, path] of [
      ["GET", "/api/sessions"],
      ["GET", "/api/devices"],
      ["POST", "/api/sessions"],
      ["POST", "/api/devices/link"],
      ["GET", "/api/sessions?key=guessed"],
    ] as const) {
      const answer = await fetch(`${server.url}${path}`, {
        method,
        headers: { cookie, "content-type": "application/json" },
        ...(method === "POST" && { body: "{}" }),
      });
      expect(answer.status, `${method} ${path}`).toBe(401);
      expect((await answer.json()).error.code).toBe("key_required");
    }
    const bind = await fetch(`${server.url}/api/devices/key`, {
      method: "POST",
      headers: { cookie, "content-type": "application/json" },
      body: JSON.stringify({ key: "A".repeat(43) }),
    });
    expect(bind.status, "nor can it bind a key of its own").toBe(409);
    await fetch(`${server.url}/api/logout`, { method: "POST", headers: { cookie } });

    const inPage = await preview.evaluate(async (url) => {
      try {
        const answer = await fetch(`${url}/api/sessions`, { credentials: "include" });
        return answer.status;
      } catch {
        return "refused";
      }
    }, server.url);
    expect(inPage, "nor from a page of its own").toBe("refused");
    await preview.close();
  } finally {
    thief.closeAllConnections();
    await new Promise((resolve) => thief.close(resolve));
  }

  await cockpit.send("say still here");
  await expect(cockpit.answers).toHaveText(["hello", "still here"]);
  const devices = new Devices(cockpit);
  await devices.open();
  await expect(devices.rows).toHaveCount(1);
});
