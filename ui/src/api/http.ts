// A client for the server's own description of its calls. The types are those of `openapi-fetch`; its code does far more than
// this page needs, before anything is shown.

import type { Client } from "openapi-fetch";
import type { paths } from "./schema";

export type Fetch = (request: Request) => Promise<Response>;

interface ClientOptions {
  baseUrl: string;
  fetch: Fetch;
  /** Headers of every call, read when it is made. */
  headers(): Record<string, string>;
}

interface CallOptions extends RequestInit {
  params?: { path?: Record<string, unknown>; query?: Record<string, unknown> };
  fetch?: Fetch;
  /** `stream`: the body as it comes. Otherwise it is JSON. */
  parseAs?: string;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof methods)[number];

export function createClient(options: ClientOptions): Pick<Client<paths>, Method> {
  const callOf =
    (method: Method) =>
    async (template: string, call: CallOptions = {}) => {
      const { params, body, fetch = options.fetch, parseAs, ...init } = call;
      const headers = new Headers(options.headers());
      if (body !== undefined) headers.set("content-type", "application/json");
      const request = new Request(options.baseUrl + pathOf(template, params), {
        credentials: "same-origin",
        redirect: "follow",
        ...init,
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      });
      const response = await fetch(request);
      if (!response.ok) return { error: parseError(await response.text()), response };
      if (parseAs === "stream") return { data: response.body, response };
      const text = await response.text();
      return { data: text === "" ? undefined : JSON.parse(text), response };
    };
  return Object.fromEntries(methods.map((method) => [method, callOf(method)])) as unknown as Pick<
    Client<paths>,
    Method
  >;
}

function pathOf(template: string, params: CallOptions["params"]): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params?.path?.[name] ?? "")));
  const query = Object.entries(params?.query ?? {})
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}

/** A proxy answers with a page of its own. */
function parseError(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
