// A push service as a browser's maker runs one, and the browser that subscribes to it: it takes what a server sends only if the
// server may send it (VAPID, RFC 8292), and reads it with the browser's key (RFC 8291).

import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext } from "@playwright/test";

const day_s = 24 * 60 * 60;
const tag_bytes = 16;

/** A word of the server, read. */
export interface Pushed {
  topic: string;
  urgency: string;
  payload: { kind: string; session_id?: string; title: string; text: string; request_id?: string; options?: unknown };
}

export class PushService {
  readonly pushed: Pushed[] = [];
  /** What was wrong with what was sent. */
  readonly refused: string[] = [];
  private readonly browser = createECDH("prime256v1");
  private readonly auth = randomBytes(16);
  private readonly server: Server;
  /** The server that the browser has subscribed to, in base64url; from nobody else anything is taken. */
  private applicationServer: string | undefined;

  private constructor() {
    this.browser.generateKeys();
    this.server = createServer((request, response) => {
      this.take(request).then(
        (pushed) => {
          this.pushed.push(pushed);
          response.writeHead(201).end();
        },
        (error) => {
          this.refused.push(String(error));
          response.writeHead(400).end();
        },
      );
    });
  }

  static async start(): Promise<PushService> {
    const service = new PushService();
    await new Promise<void>((resolve) => service.server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Browsers without a network have no push service of their own: theirs is this one. The rest of the page's path is as it is. */
  async servesFor(context: BrowserContext): Promise<void> {
    await context.exposeFunction("subscribeToPush", (key: string) => {
      this.applicationServer = key;
    });
    const keys = { p256dh: this.browser.getPublicKey("base64url"), auth: this.auth.toString("base64url") };
    await context.addInitScript(standIn, { endpoint: `${this.origin}/device`, keys });
  }

  private get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async take(request: IncomingMessage): Promise<Pushed> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { headers } = request;
    if (request.method !== "POST" || request.url !== "/device") throw new Error(`${request.method} ${request.url}`);
    if (headers["content-encoding"] !== "aes128gcm" || !(Number(headers.ttl) >= 0)) throw new Error("wrong headers");
    this.checkSender(headers.authorization ?? "");
    const payload = JSON.parse(this.decrypt(Buffer.concat(pieces)).toString());
    return { topic: String(headers.topic), urgency: String(headers.urgency), payload };
  }

  private checkSender(authorization: string): void {
    const [, head = "", claims = "", signature = "", key = ""] =
      /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(authorization) ?? [];
    if (key === "" || key !== this.applicationServer) throw new Error("not the server that was subscribed to");
    const point = Buffer.from(key, "base64url");
    const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
    const signer = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
    const bytes = Buffer.from(signature, "base64url");
    const isTheirs = verify("sha256", Buffer.from(`${head}.${claims}`), { key: signer, dsaEncoding: "ieee-p1363" }, bytes);
    if (!isTheirs) throw new Error("the signature is not the server's");
    if (read(head).alg !== "ES256") throw new Error("signed in another way");
    const { aud, exp, sub } = read(claims);
    const left_s = Number(exp) - Date.now() / 1000;
    if (aud !== this.origin || !(left_s > 0 && left_s <= day_s) || typeof sub !== "string") throw new Error("wrong claims");
  }

  /** One record, as push messages are. */
  private decrypt(body: Buffer): Buffer {
    const salt = body.subarray(0, 16);
    const sender = body.subarray(21, 21 + (body[20] ?? 0));
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.browser.getPublicKey(), sender]);
    const secret = Buffer.from(hkdfSync("sha256", this.browser.computeSecret(sender), this.auth, info, 32));
    const derive = (what: string, length: number) =>
      Buffer.from(hkdfSync("sha256", secret, salt, `Content-Encoding: ${what}\0`, length));
    const cipher = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
    cipher.setAuthTag(body.subarray(-tag_bytes));
    const padded = Buffer.concat([cipher.update(body.subarray(21 + sender.length, -tag_bytes)), cipher.final()]);
    const end = padded.lastIndexOf(2);
    if (end < 0 || padded.subarray(end + 1).some((byte) => byte !== 0)) throw new Error("wrong padding");
    return padded.subarray(0, end);
  }
}

const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, "base64url").toString());

/** Runs in the page, before anything of it does. What a browser keeps of a subscription outlives the page. */
function standIn(given: { endpoint: string; keys: { p256dh: string; auth: string } }): void {
  const name = "test-push";
  const subscribe = (window as unknown as { subscribeToPush(key: string): Promise<void> }).subscribeToPush;
  const subscription = () => ({
    endpoint: given.endpoint,
    options: { applicationServerKey: Uint8Array.from(JSON.parse(localStorage.getItem(name) ?? "[]")).buffer },
    toJSON: () => given,
    unsubscribe: async () => {
      localStorage.removeItem(name);
      return true;
    },
  });
  Object.assign(PushManager.prototype, {
    getSubscription: async () => (localStorage.getItem(name) ? subscription() : null),
    subscribe: async (options: { userVisibleOnly?: boolean; applicationServerKey?: Uint8Array }) => {
      if (!options.userVisibleOnly) throw new DOMException("only what is shown may be pushed", "NotAllowedError");
      const key = btoa(String.fromCharCode(...(options.applicationServerKey ?? [])));
      await subscribe(key.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
      localStorage.setItem(name, JSON.stringify([...(options.applicationServerKey ?? [])]));
      return subscription();
    },
  });
}
