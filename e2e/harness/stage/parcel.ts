// The project of the pictures: a small service, a main AI that splits the work, and agents that do the same thing each time.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Rule } from "../script";
import type { Setup } from "../server";
import { files, written } from "./files";

type Step = Record<string, unknown>;

const bucketPlan = [
  "Token bucket with a clock that tests can move",
  "Layer for the public routes, 429 with `Retry-After`",
  "Settings `limit.rate` and `limit.burst`",
  "Tests: burst, refill, two keys, sweep",
  "Measure the cost of a request that is let through",
];
const tested = [
  "running 7 tests",
  "test burst_of_twenty_passes ... ok",
  "test twenty_first_gets_429_with_retry_after ... ok",
  "test refill_after_one_second ... ok",
  "test two_keys_do_not_share ... ok",
];
const limiter: Step[] = [
  { plan: bucketPlan, at: 0 },
  { think: "The clock has to be movable, otherwise the refill test sleeps.", ms: 1200 },
  { read: "src/http/router.rs" },
  { read: "src/config.rs" },
  { search: "ApiKey" },
  {
    say: "The key is already in `ApiKey` when the routes run, so the buckets can be keyed on it. I keep them in a sharded map and sweep idle ones every minute.",
  },
  { edit: "src/http/limit.rs", to: written["src/http/limit.rs"] },
  { edit: "src/http/router.rs", to: written["src/http/router.rs"] },
  { edit: "src/config.rs", to: written["src/config.rs"] },
  { run: "cargo check", lines: ["    Checking parcel v2.8.0", "    Finished `dev` profile in 6.02s"] },
  { plan: bucketPlan, at: 3 },
];
const redis = "docker compose up -d redis && \\\n  cargo test --test limit -- --include-ignored replicas";

/** What an agent does, by a word of its task. */
const scenes: Record<string, Step[]> = {
  "Describe the limits": [
    { read: "docs/api.md" },
    { edit: "docs/api.md", to: written["docs/api.md"] },
    { say: "Added “Rate limits” to docs/api.md, with an example of a 429." },
  ],
  "A token bucket": [...limiter, { run: "cargo test --test limit", lines: tested, ends: false }],
  "The whole limiter": [
    ...limiter,
    { edit: "tests/limit.rs", to: written["tests/limit.rs"] },
    { run: "cargo test --test limit", lines: [...tested, "test result: ok. 7 passed; 0 failed"] },
    { plan: bucketPlan, at: 5 },
    { say: "The limit is in, and all seven tests pass." },
  ],
  "Lint the limiter": [
    { plan: bucketPlan, at: 3 },
    { edit: "src/http/limit.rs", to: written["src/http/limit.rs"] },
    { edit: "src/config.rs", to: written["src/config.rs"] },
    {
      run: "cargo clippy",
      lines: ["    Checking parcel v2.8.0", "    Checking parcel-http v2.8.0"],
      ends: false,
    },
  ],
  "Test two replicas": [
    { read: "src/http/limit.rs" },
    { edit: "tests/limit.rs", to: written["tests/limit.rs"] },
    { ask: redis, because: "Two replicas can only be tested against a shared store." },
  ],
  "Bump sqlx": [{ read: "Cargo.toml" }, { ask: "cargo update -p sqlx --precise 0.9.0" }],
  "Harden the limits": [
    { read: "src/config.rs" },
    { ask: "", edit: "src/config.rs", to: files["src/config.rs"]?.replace("pub rate: u32,", "pub rate: NonZeroU32,\n    pub burst: NonZeroU32,") },
  ],
  "Flaky test": [{ run: "cargo test webhook -- --test-threads 1", lines: ["running 31 tests"], ends: false }],
  "Split the table": [
    { edit: "migrations/0042_by_month.sql", to: written["migrations/0042_by_month.sql"] },
    { say: "The table is split by month." },
  ],
  "Move the fixtures": [{ edit: "tests/factory.rs", to: "pub fn parcel() {}\n" }, { crash: true }],
  "Push the release": [{ say: "Pushing the release." }, { wait: true }],
};

const delegate = (agent: string, session_name: string, prompt: string) => ({
  name: "delegate",
  arguments: { agent, prompt, session_name },
});
const says = (word: string, text: string): Rule => ({ when: { last_user_contains: word }, reply: { text } });
/** Hands one thing to one agent, and says something at the end. */
const hands = (word: string, agent: string, name: string, prompt: string, end = "Done."): Rule[] => [
  { when: { last_user_contains: word, has_tool_result: true }, reply: { text: end } },
  { when: { last_user_contains: word }, reply: { tool_calls: [delegate(agent, name, prompt)] } },
];

const first =
  "Every public route passes through `public_routes()` in `src/http/router.rs`, so one layer there covers them all. I split the work in two: **limiter** writes the layer and its tests, **docs** tells API users what to expect.";
const summary = `The limit is in. A key may make **60 requests a minute** with bursts of 20; the next one gets a 429 that says how long to wait. All 7 new tests pass, and so do the 212 that were there.

\`\`\`rust
let mut bucket = self.buckets.entry(key).or_default();
match bucket.take(now) {
    Ok(()) => next.run(request).await,
    Err(wait) => too_many_requests(wait),  // Retry-After
}
\`\`\`

| Requests | Before | After |
|---|---|---|
| Let through, p99 | 3.1 ms | 3.1 ms |
| Refused, p99 | – | 0.2 ms |

Two things to know:

- Limits are counted per process. With two replicas a key gets twice as much.
- Requests without a key are counted by address.
`;
const docs = delegate("copilot", "docs", "Describe the limits in docs/api.md: the headers, and an example of a 429");

const script: Rule[] = [
  { when: { last_user_contains: "Just do it", tool_results: 2 }, reply: { text: summary } },
  { when: { last_user_contains: "Just do it", tool_results: 1 }, reply: { tool_calls: [delegate("copilot", "limiter", "The whole limiter: a token bucket per API key, as a layer on the public routes, with tests")] } },
  { when: { last_user_contains: "Just do it" }, reply: { text: first, tool_calls: [docs] } },
  { when: { last_user_contains: "One client polls", tool_results: 1 }, reply: { tool_calls: [delegate("copilot", "limiter", "A token bucket per API key, as a layer on the public routes, with tests")] } },
  { when: { last_user_contains: "One client polls" }, reply: { text: first, tool_calls: [docs] } },
  {
    when: { last_user_contains: "at the same time" },
    reply: {
      text: "Three agents are on it. They touch different files, so they can share the branch.",
      tool_calls: [
        delegate("copilot", "limiter", "Lint the limiter, then finish it"),
        delegate("codex", "tests", "Test two replicas against one store"),
        delegate("claude", "docs", "Describe the limits in docs/api.md"),
      ],
    },
  },
  ...hands("Harden", "copilot", "limiter", "Harden the limits: a rate of zero makes no sense"),
  ...hands("sqlx", "codex", "main", "Bump sqlx to 0.9"),
  ...hands("webhook", "copilot", "main", "Flaky test in the webhook retries: find out why"),
  ...hands("by month", "copilot", "main", "Split the table of parcels by month"),
  { when: { last_user_contains: "tokio" }, reply: { status: 400, body: { error: { message: "This model does not exist", type: "invalid_request_error" } } } },
  says("label printer", "The label printer speaks ZPL; `src/labels.rs` writes it."),
  says("Rate limits were", "I put the limit above `auth` and round Retry-After up."),
  { reply: { text: "limit: sixty requests a minute and key" } },
];

/** Programs of their own name, so that the pages show what they would show of the real ones. */
function settings({ directory }: { directory: string }): string {
  const scenesFile = join(directory, "scenes.json");
  const player = join(import.meta.dirname, "player.mjs");
  const bin = join(directory, "bin");
  mkdirSync(bin);
  writeFileSync(scenesFile, JSON.stringify(scenes));
  const agent = (id: string, title: string, version: string) => {
    const program = join(bin, id);
    const play = `exec '${process.execPath}' '${player}' '${scenesFile}' '${title}' ${version}`;
    writeFileSync(program, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\n${play}\n`, { mode: 0o755 });
    return `[agents.${id}]\ntitle = "${title}"\ndialect = "acp"\ncommand = ${JSON.stringify(program)}\nargs = []\n`;
  };
  return [
    'title = "parcel"\n',
    agent("copilot", "Copilot", "1.0.102"),
    agent("codex", "Codex", "0.166.0"),
    agent("claude", "Claude Code", "2.1.4"),
  ].join("");
}

export const parcel: Setup = {
  agent: "copilot",
  model: "gpt-4.1",
  branch: "rate-limit",
  script,
  settings,
  files,
  changes: {},
};
