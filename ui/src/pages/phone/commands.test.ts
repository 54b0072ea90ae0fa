import { describe, expect, it } from "vitest";
import type { Reach } from "../../api/types";
import { domainCommands, domainOf, networkCommand, tailscaleCommands } from "./commands";

const server: Reach = {
  listens: "127.0.0.1:8000",
  port: 8000,
  local_only: true,
  addresses: [],
  network: { candidates: [] },
  tailscale: { state: "missing" },
  command: "voxpilot serve",
};
const moved: Reach = {
  ...server,
  listens: "127.0.0.1:9100",
  port: 9100,
  command: "voxpilot serve --data-dir /srv/vox",
  addresses: [
    { url: "https://192.168.1.20:9100", kind: "network" },
    { url: "https://old.example", kind: "name" },
  ],
};

describe("the commands of the ways", () => {
  it("are those of a server at its usual address", () => {
    expect(tailscaleCommands(server, "desk.tail1.ts.net")).toEqual([
      "VOXPILOT_ALLOWED_HOSTS=desk.tail1.ts.net voxpilot serve",
      "tailscale serve --bg 8000",
    ]);
    expect(networkCommand(server)).toBe("voxpilot serve --bind 0.0.0.0:8000 --tls self-signed");
    expect(domainCommands(server, "cockpit.example")).toEqual([
      "VOXPILOT_ALLOWED_HOSTS=cockpit.example VOXPILOT_TRUSTED_PROXIES=127.0.0.1 voxpilot serve",
      "caddy reverse-proxy --from cockpit.example --to 127.0.0.1:8000",
    ]);
  });

  it("keep the port, the flags and the names that are allowed already", () => {
    expect(tailscaleCommands(moved, "desk.tail1.ts.net")).toEqual([
      "VOXPILOT_ALLOWED_HOSTS=old.example,desk.tail1.ts.net voxpilot serve --data-dir /srv/vox --bind 127.0.0.1:9100",
      "tailscale serve --bg 9100",
    ]);
    expect(networkCommand(moved)).toBe("voxpilot serve --data-dir /srv/vox --bind 0.0.0.0:9100 --tls self-signed");
  });
});

it("a domain is a name and nothing that a shell would read", () => {
  expect(domainOf(" Cockpit.Example ")).toBe("cockpit.example");
  for (const other of ["", "localhost", "a b.example", "x;rm.example", "$(x).example", "-a.example", "a..example"]) {
    expect(domainOf(other), other).toBeNull();
  }
});
