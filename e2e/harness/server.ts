// A server of its own for each test, in a directory of its own, with the peers that the test wants.

import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { realAgents } from "./agents";
import { fastAgent, faultyAgent, modelServer, voxpilot } from "./binaries";
import { processesOf } from "./processes";
import { Program } from "./program";
import type { Rule } from "./script";

export interface Setup {
  /** Without one it is `auto`; `unset` leaves it to the server's own default. */
  policy?: "auto" | "ask" | "read-only" | "deny" | "unset";
  /** The main AI's answers; without them the relay passes everything on to the agent. */
  script?: Rule[];
  /** `guarded` wants a login, which waits until {@link Server.agree} is called. */
  agent?: "demo" | "faulty" | "guarded" | "fast" | "copilot";
  /** What the main AI's model is called. */
  model?: string;
  /** More of the person's own settings, as TOML. */
  settings?: (programs: { voxpilot: string; directory: string }) => string;
  /** Copilot and Codex themselves, with the script behind them as the models `coder` and `codex`. */
  realAgents?: boolean;
  /** Programs that the server finds before all others: by name, what each does, as a shell script. */
  programs?: Record<string, string>;
  /** The model runs, and the server knows nothing of it: it is set up in the page. */
  withoutMainAi?: boolean;
  /** Files of the work directory, there before the server starts. */
  files?: Record<string, string | Buffer>;
  /** What is changed in `files` after they were committed to a git repository. */
  changes?: Record<string, string>;
  /** The branch of that repository that is worked on; `main` is what it left. */
  branch?: string;
}

export class Server {
  /** Holds everything of the test; its name is in the environment, or on the command line, of every process of it. */
  readonly directory = mkdtempSync(join(tmpdir(), "voxpilot-e2e-"));
  readonly work = join(this.directory, "work");
  private readonly programs = join(this.directory, "programs");
  readonly token = randomBytes(16).toString("hex");
  readonly log: string[] = [];
  url = "";
  /** The link that the server prints for its owner, good for one device. */
  link = "";
  private program: Program | undefined;
  private model: Program | undefined;
  /** Of the scripted model. */
  modelUrl: string | undefined;
  private agentsEnv: NodeJS.ProcessEnv = {};

  constructor(private readonly setup: Setup) {}

  async start(): Promise<void> {
    this.writeFiles();
    if (this.setup.script) await this.startModel(this.setup.script);
    await this.serve("127.0.0.1:0");
  }

  /** Nothing is told and nothing is put in order: the machine takes the process away. */
  async crash(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Comes back at the address where browsers look for it. */
  async startAgain(): Promise<void> {
    await this.serve(new URL(this.url).host);
  }

  async stop(): Promise<number | string | null> {
    return await this.end("SIGTERM");
  }

  /** Ends everything that is left, names it, and removes the directory. */
  async discard(): Promise<string[]> {
    await this.end("SIGTERM");
    await this.model?.end("SIGKILL");
    const left = processesOf(this.directory);
    for (const { pid } of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself in the meantime.
      }
    }
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
    return left.map(({ command }) => command);
  }

  /** A link for one more device, as the owner makes it on the machine itself. */
  async freshLink(...options: string[]): Promise<string> {
    const env = this.environment(new URL(this.url).host);
    const { stdout } = await promisify(execFile)(voxpilot, ["link", ...options], { env, cwd: this.work });
    const link = /(http:\/\/\S+\/login\?link=\S+)/.exec(stdout)?.[1];
    if (link === undefined) throw new Error(`no link in:\n${stdout}`);
    return link;
  }

  /** A call of a program that has the token: what happens elsewhere, not in the page of the test. */
  async call(method: string, path: string, body?: unknown): Promise<Response> {
    return await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  private async serve(bind: string): Promise<void> {
    this.program = new Program(voxpilot, ["serve"], this.environment(bind), this.work);
    this.url = await this.program.line(/^listening on (http:\/\/\S+)/);
    this.link = await this.program.line(/^open (http:\/\/\S+)/);
  }

  private async end(signal: NodeJS.Signals): Promise<number | string | null> {
    const program = this.program;
    this.program = undefined;
    const code = (await program?.end(signal)) ?? null;
    this.log.push(...(program?.output ?? []), `(ended: ${code})`);
    return code;
  }

  private async startModel(script: Rule[]): Promise<void> {
    const file = join(this.directory, "script.json");
    writeFileSync(file, JSON.stringify(script));
    this.model = new Program(modelServer, ["--port", "0", "--script", file], this.base(), this.directory);
    this.modelUrl = await this.model.line(/^listening on (http:\/\/\S+)/);
    if (!this.setup.realAgents) return;
    const { config, env } = realAgents(this.directory, this.modelUrl);
    this.configure(config);
    this.agentsEnv = env;
  }

  private writeFiles(): void {
    mkdirSync(join(this.directory, "home"));
    mkdirSync(this.work);
    mkdirSync(this.programs);
    for (const [name, script] of Object.entries(this.setup.programs ?? {})) {
      writeFileSync(join(this.programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    if (this.setup.agent === "faulty") {
      this.configure(`[agents.faulty]\ntitle = "Faulty agent"\ncommand = ${JSON.stringify(faultyAgent)}\n`);
    }
    if (this.setup.agent === "fast") this.configure(`[agents.fast]\ncommand = ${JSON.stringify(fastAgent)}\n`);
    if (this.setup.agent === "guarded") this.writeGuarded();
    if (this.setup.settings) this.configure(this.setup.settings({ voxpilot, directory: this.directory }));
    this.write(this.setup.files ?? {});
    if (!this.setup.changes) return;
    for (const args of [
      ["init", "--quiet", "--initial-branch", "main"],
      ["config", "user.name", "Test"],
      ["config", "user.email", "test@example.com"],
      ["add", "--all"],
      ["commit", "--quiet", "--message", "first"],
    ]) {
      execFileSync("git", args, { cwd: this.work, env: this.base() });
    }
    if (this.setup.branch) {
      execFileSync("git", ["switch", "--quiet", "--create", this.setup.branch], { cwd: this.work, env: this.base() });
    }
    this.write(this.setup.changes);
  }

  /** Lets a login that waits go on. */
  agree(): void {
    writeFileSync(join(this.directory, "agreed"), "");
  }

  private writeGuarded(): void {
    const script = join(this.directory, "guarded.sh");
    const agreed = join(this.directory, "agreed");
    const done = join(this.directory, "logged-in");
    const lines = [
      "#!/bin/sh",
      'if [ "$1" = login ]; then',
      "  echo 'open https://login.example/device and enter AB12-CD34'",
      `  while [ ! -e '${agreed}' ]; do sleep 0.1; done`,
      `  echo 'welcome'; touch '${done}'; exit 0`,
      "fi",
      `[ -e '${done}' ] || export FAULTY_AUTH=1`,
      `exec '${faultyAgent}'`,
    ];
    writeFileSync(script, lines.join("\n"), { mode: 0o755 });
    this.configure(
      `[agents.guarded]\ntitle = "Guarded agent"\ncommand = ${JSON.stringify(script)}\nlogin = ["login"]\n`,
    );
  }

  /** The person's own settings. */
  private configure(toml: string): void {
    const own = join(this.directory, "home/.config/voxpilot");
    mkdirSync(own, { recursive: true });
    appendFileSync(join(own, "voxpilot.toml"), toml);
  }

  private write(files: Record<string, string | Buffer>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.work, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }

  /** Nothing of the machine that runs the tests but its programs. */
  private base(): NodeJS.ProcessEnv {
    const home = join(this.directory, "home");
    return { PATH: `${this.programs}:${process.env.PATH}`, LANG: "C.UTF-8", HOME: home, TMPDIR: this.directory };
  }

  private environment(bind: string): NodeJS.ProcessEnv {
    const { agent = "demo", policy = "auto", model = "main" } = this.setup;
    return {
      ...this.base(),
      ...this.agentsEnv,
      VOXPILOT_BIND: bind,
      VOXPILOT_DATA_DIR: join(this.directory, "data"),
      VOXPILOT_WORK_DIR: this.work,
      VOXPILOT_TOKEN: this.token,
      VOXPILOT_AGENT: agent,
      ...(policy !== "unset" && { VOXPILOT_PERMISSION_POLICY: policy }),
      ...(this.modelUrl && !this.setup.withoutMainAi && {
        VOXPILOT_MODEL: model,
        VOXPILOT_MODEL_BASE_URL: this.modelUrl,
        VOXPILOT_MODEL_API_KEY: "not-a-real-key",
      }),
    };
  }
}
