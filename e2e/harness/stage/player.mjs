// An agent on a stage: it speaks the protocol of agents and plays the scene whose word is in its prompt, so that a picture of its
// work is the same each time. Its files are really written; its commands are only said to run, and it asks when
// the test has made the file "asks".

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const [scenesFile, name, version] = process.argv.slice(2);
const scenes = JSON.parse(readFileSync(scenesFile, "utf8"));
const sessions = new Map();
const answers = new Map();
let lastId = 0;

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function ask(method, params) {
  const id = ++lastId;
  write({ id, method, params });
  return new Promise((done) => answers.set(id, done));
}

class Scene {
  cancelled = false;

  constructor(sessionId, cwd) {
    this.sessionId = sessionId;
    this.cwd = cwd;
    this.stopped = new Promise((done) => {
      this.cancel = () => {
        this.cancelled = true;
        done();
      };
    });
  }

  update(update) {
    write({ method: "session/update", params: { sessionId: this.sessionId, update } });
  }

  async play(steps) {
    for (const step of steps) {
      if (this.cancelled) break;
      await this[Object.keys(step)[0]](step);
    }
    return this.cancelled ? "cancelled" : "end_turn";
  }

  async think({ think, ms = 0 }) {
    this.update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: think } });
    await pause(ms);
  }

  say({ say }) {
    this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: say } });
  }

  plan({ plan, at }) {
    const status = (index) => (index < at ? "completed" : index === at ? "in_progress" : "pending");
    const entries = plan.map((content, index) => ({ content, priority: "medium", status: status(index) }));
    this.update({ sessionUpdate: "plan", entries });
  }

  call(title, kind, more) {
    const toolCallId = `call-${++lastId}`;
    this.update({ sessionUpdate: "tool_call", toolCallId, title, kind, status: "in_progress", ...more });
    return (update) => this.update({ sessionUpdate: "tool_call_update", toolCallId, ...update });
  }

  read({ read }) {
    this.call(`Read ${read}`, "read", { locations: [{ path: join(this.cwd, read) }] })({ status: "completed" });
  }

  search({ search }) {
    this.call(`Search for ${search}`, "search", { rawInput: { query: search } })({ status: "completed" });
  }

  edit({ edit, to }) {
    const path = join(this.cwd, edit);
    let old = null;
    try {
      old = readFileSync(path, "utf8");
    } catch {
      // It is a new one.
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, to);
    const content = [{ type: "diff", path, oldText: old, newText: to }];
    this.call(`Edit ${edit}`, "edit", { locations: [{ path }], content })({ status: "completed" });
  }

  /** Without an end the command runs until somebody stops it. */
  async run({ run, lines = [], ends = true }) {
    const update = this.call(run, "execute", { rawInput: { command: run, cwd: this.cwd } });
    const text = lines.map((line) => `${line}\n`).join("");
    update({ content: [{ type: "content", content: { type: "text", text } }] });
    if (!ends) await this.stopped;
    update({ status: ends ? "completed" : "failed" });
  }

  /** Once somebody has said that it is time. */
  async ask({ ask: command, because, edit, to }) {
    while (!existsSync(join(dirname(scenesFile), "asks")) && !this.cancelled) await pause(50);
    const options = [
      { optionId: "allow_once", kind: "allow_once", name: "Allow once" },
      { optionId: "reject_once", kind: "reject_once", name: "Deny" },
    ];
    const path = edit && join(this.cwd, edit);
    const toolCall = edit
      ? {
          title: `Edit ${edit}`,
          kind: "edit",
          locations: [{ path }],
          content: [{ type: "diff", path, oldText: readFileSync(path, "utf8"), newText: to }],
        }
      : { title: command, kind: "execute", rawInput: { command, cwd: this.cwd, reason: because } };
    const toolCallId = `call-${++lastId}`;
    this.update({ sessionUpdate: "tool_call", toolCallId, status: "pending", ...toolCall });
    const question = ask("session/request_permission", {
      sessionId: this.sessionId,
      toolCall: { toolCallId, status: "pending", ...toolCall },
      options,
    });
    const allowed = (await question)?.outcome?.optionId === "allow_once";
    this.update({ sessionUpdate: "tool_call_update", toolCallId, status: allowed ? "completed" : "failed" });
  }

  async wait() {
    await this.stopped;
  }

  crash() {
    process.kill(process.pid, "SIGKILL");
  }
}

/** A mode in which it asks, where some agents are brought to ask. */
const modes = {
  currentModeId: "agent",
  availableModes: [
    { id: "agent", name: "Agent" },
    { id: "read-only", name: "Read only" },
  ],
};

const methods = {
  "session/set_mode": () => ({}),
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
    agentInfo: { name, title: name, version },
    authMethods: [],
  }),
  "session/new": ({ cwd }) => {
    const sessionId = `scene-${process.pid}-${++lastId}`;
    sessions.set(sessionId, { cwd });
    return { sessionId, modes };
  },
  "session/load": ({ sessionId, cwd }) => {
    sessions.set(sessionId, { cwd });
    return {};
  },
  "session/prompt": async ({ sessionId, prompt }) => {
    const session = sessions.get(sessionId);
    const words = prompt.map(({ text }) => text ?? "").join(" ");
    const found = Object.entries(scenes).find(([word]) => words.includes(word));
    session.scene = new Scene(sessionId, session.cwd);
    return { stopReason: await session.scene.play(found?.[1] ?? [{ say: "Done." }]) };
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) return answers.get(id)?.(result);
  if (method === "session/cancel") return sessions.get(params.sessionId)?.scene?.cancel();
  if (id === undefined) return;
  const known = methods[method];
  if (!known) return write({ id, error: { code: -32601, message: "Method not found" } });
  write({ id, result: await known(params) });
});
