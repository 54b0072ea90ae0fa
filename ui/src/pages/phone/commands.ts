// The exact commands of the ways in which a phone can reach this server.

import type { Reach } from "../../api/types";

type Server = Pick<Reach, "listens" | "port" | "command" | "addresses">;

const default_address = "127.0.0.1:8000";
/** What stands for a name that is not known yet. */
export const example_domain = "cockpit.example";
export const example_tailnet = "my-computer.my-tailnet.ts.net";

/** The command that starts this server as it is, at a local address. */
function local({ listens, port, command }: Server): string {
  const address = listens.startsWith("127.") || listens.startsWith("[::1]") ? listens : `127.0.0.1:${port}`;
  return address === default_address ? command : `${command} --bind ${address}`;
}

/** The names that are allowed already stay so. */
function hosts({ addresses }: Server, name: string): string {
  const known = addresses.filter(({ kind }) => kind !== "network").map(({ url }) => new URL(url).hostname);
  return [...new Set([...known, name])].join(",");
}

export function tailscaleCommands(server: Server, name: string): string[] {
  return [`VOXPILOT_ALLOWED_HOSTS=${hosts(server, name)} ${local(server)}`, `tailscale serve --bg ${server.port}`];
}

export function networkCommand(server: Server): string {
  return `${server.command} --bind 0.0.0.0:${server.port} --tls self-signed`;
}

export function domainCommands(server: Server, name: string): string[] {
  return [
    `VOXPILOT_ALLOWED_HOSTS=${hosts(server, name)} VOXPILOT_TRUSTED_PROXIES=127.0.0.1 ${local(server)}`,
    `caddy reverse-proxy --from ${name} --to 127.0.0.1:${server.port}`,
  ];
}

/** A name as it can stand in a command; null where it is none. */
export function domainOf(text: string): string | null {
  const name = text.trim().toLowerCase();
  return /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(name) ? name : null;
}

/** What lets the port through the firewall of most desktops. */
export function firewallCommand({ port }: Pick<Reach, "port">): string {
  return `sudo ufw allow ${port}/tcp`;
}
