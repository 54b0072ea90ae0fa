// A program that runs beside a test: its output is read line by line and it is always ended.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const start_limit_ms = 20_000;
const end_limit_ms = 20_000;

export class Program {
  readonly output: string[] = [];
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;
  private onLine = () => {};

  constructor(file: string, args: string[], env: NodeJS.ProcessEnv, cwd: string) {
    this.child = spawn(file, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
    this.exited = once(this.child, "exit");
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on("line", (line) => {
        this.output.push(line);
        this.onLine();
      });
    }
    this.child.on("exit", () => this.onLine());
    this.child.on("error", (error) => {
      this.output.push(String(error));
      this.onLine();
    });
  }

  /** The first group of the first line that fits. */
  async line(pattern: RegExp): Promise<string> {
    const found = () => this.output.map((line) => pattern.exec(line)?.[1]).find((match) => match !== undefined);
    return await new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why} ${pattern}:\n${this.output.join("\n")}`));
      const timer = setTimeout(() => fail("no line in time like"), start_limit_ms);
      this.onLine = () => {
        const match = found();
        if (match === undefined && this.child.exitCode === null && this.child.pid !== undefined) return;
        clearTimeout(timer);
        this.onLine = () => {};
        if (match === undefined) fail("ended without a line like");
        else resolve(match);
      };
      this.onLine();
    });
  }

  /** Ends the program and answers how it ended: a code, or the signal. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill(signal);
      const timer = setTimeout(() => this.child.kill("SIGKILL"), end_limit_ms);
      await this.exited;
      clearTimeout(timer);
    }
    return this.child.exitCode ?? this.child.signalCode;
  }
}
