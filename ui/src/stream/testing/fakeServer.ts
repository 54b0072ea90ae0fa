// A server with the logs of some sessions and the stream of several of them. For tests only.

interface Open {
  sessions: string[];
  write(text: string): void;
  end(): void;
}

const encoder = new TextEncoder();

export class FakeServer {
  readonly open: Open[] = [];
  readonly asked: { address: string; key: string | null }[] = [];
  readonly deleted = new Set<string>();
  mostOpen = 0;
  status = 200;
  down = false;
  isSilent = false;
  /** Answers are held back. */
  isSlow = false;
  /** Snapshots stop in the middle. */
  holdSnapshots = false;
  private readonly logs = new Map<string, string[]>();
  private held: (() => void)[] = [];
  private readonly keepalive = setInterval(() => {
    if (!this.isSilent) for (const open of this.open) open.write("event: keepalive\ndata: {}\n\n");
  }, 15_000);

  fetch = async (address: string, init: RequestInit): Promise<Response> => {
    this.asked.push({ address, key: new Headers(init.headers).get("x-voxpilot-key") });
    while (this.isSlow) await new Promise((resolve) => setTimeout(resolve, 5));
    if (this.down) throw new TypeError("nobody there");
    if (this.status !== 200) return new Response("", { status: this.status });
    const wanted = new URL(address, "http://localhost").searchParams.get("s") ?? "";
    return new Response(this.stream(wanted.split(",").filter(Boolean), init.signal ?? null));
  };

  add(session: string, text: string): void {
    const log = this.log(session);
    log.push(text);
    for (const open of this.open) if (open.sessions.includes(session)) open.write(frame(session, log.length, text));
  }

  row(row: unknown): void {
    for (const open of this.open) open.write(`event: sessions\ndata: ${JSON.stringify(row)}\n\n`);
  }

  breakAll(): void {
    for (const open of [...this.open]) open.end();
  }

  releaseSnapshots(): void {
    this.holdSnapshots = false;
    for (const release of this.held.splice(0)) release();
  }

  stop(): void {
    clearInterval(this.keepalive);
  }

  private log(session: string): string[] {
    const log = this.logs.get(session) ?? [];
    this.logs.set(session, log);
    return log;
  }

  private stream(wanted: string[], signal: AbortSignal | null): ReadableStream<Uint8Array> {
    return new ReadableStream({
      start: (controller) => {
        const open: Open = {
          sessions: [],
          write: (text) => controller.enqueue(encoder.encode(text)),
          end: () => {
            remove();
            controller.close();
          },
        };
        const remove = () => {
          const at = this.open.indexOf(open);
          if (at >= 0) this.open.splice(at, 1);
        };
        signal?.addEventListener("abort", () => {
          remove();
          controller.error(new DOMException("aborted", "AbortError"));
        });
        this.open.push(open);
        this.mostOpen = Math.max(this.mostOpen, this.open.length);
        for (const one of wanted) this.begin(open, one);
      },
    });
  }

  private begin(open: Open, one: string): void {
    const [session = "", after] = one.split(":");
    if (this.deleted.has(session)) {
      open.write(`session: ${session}\nevent: gone\ndata: {}\n\n`);
      return;
    }
    const log = this.log(session);
    const live = (from: number) => {
      log.slice(from).forEach((text, at) => {
        open.write(frame(session, from + at + 1, text));
      });
      open.sessions.push(session);
    };
    if (after !== undefined) {
      live(Number(after));
      return;
    }
    const seq = log.length;
    for (const text of log) open.write(frame(session, null, text));
    const finish = () => {
      if (!this.open.includes(open)) return;
      open.write(`session: ${session}\nid: ${seq}\nevent: ready\ndata: {"seq":${seq}}\n\n`);
      live(seq);
    };
    if (this.holdSnapshots) this.held.push(finish);
    else finish();
  }
}

function frame(session: string, id: number | null, text: string): string {
  const line = id === null ? "" : `id: ${id}\n`;
  return `session: ${session}\n${line}event: notice\ndata: ${JSON.stringify({ text })}\n\n`;
}
