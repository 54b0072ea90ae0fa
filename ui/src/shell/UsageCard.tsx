import { For, Show } from "solid-js";
import type { AgentSession } from "../api/types";
import type { Cost } from "../state/flow";
import { visible } from "../state/visible";

/** What an agent says of its session: how full its context is, and what its models have read and written. */
interface Usage {
  used?: number | null;
  size?: number | null;
  input_tokens?: number | null;
  output_tokens?: number | null;
  total_tokens?: number | null;
  thought_tokens?: number | null;
  cached_read_tokens?: number | null;
  cached_write_tokens?: number | null;
  cost?: unknown;
}

const number = new Intl.NumberFormat("en-US");

/** Of each agent session that counts: its context and its tokens. */
export function UsageCard(props: { sessions: readonly AgentSession[] }) {
  const counted = () => props.sessions.filter(({ usage }) => usage && linesOf(usage as Usage).length > 0);
  return (
    <div class="usage-card">
      <Show when={counted().length > 0} fallback={<p class="mute">The agent has not reported its usage yet.</p>}>
        <For each={counted()}>
          {(session) => (
            <dl>
              <Show when={counted().length > 1}>
                <dt class="usage-name">{visible(session.name)}</dt>
              </Show>
              <For each={linesOf(session.usage as Usage)}>
                {([name, text]) => (
                  <div>
                    <dt>{name}</dt>
                    <dd class="num">{text}</dd>
                  </div>
                )}
              </For>
            </dl>
          )}
        </For>
      </Show>
    </div>
  );
}

/** What is known of it, in words. */
export function linesOf(usage: Usage): [name: string, text: string][] {
  const lines: [string, string | null][] = [
    ["Context", contextText(usage)],
    ["Input tokens", count(usage.input_tokens)],
    ["Output tokens", count(usage.output_tokens)],
    ["Thinking tokens", count(usage.thought_tokens)],
    ["Read from cache", count(usage.cached_read_tokens)],
    ["Written to cache", count(usage.cached_write_tokens)],
    ["Total tokens", count(usage.total_tokens)],
    ["Cost so far", costText(usage.cost)],
  ];
  return lines.flatMap(([name, text]) => (text === null ? [] : [[name, text] as [string, string]]));
}

const count = (tokens: number | null | undefined) => (tokens == null ? null : number.format(tokens));

function contextText({ used, size }: Usage): string | null {
  if (used == null) return null;
  if (size == null || size <= 0) return `${short(used)} tokens`;
  return `${short(used)} of ${short(size)} tokens (${Math.round((used / size) * 100)} %)`;
}

function short(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k`;
}

function costText(cost: unknown): string | null {
  const { amount, currency } = (cost ?? {}) as Partial<Cost>;
  if (typeof amount !== "number" || !Number.isFinite(amount) || !/^[A-Z]{3}$/.test(currency ?? "")) return null;
  return new Intl.NumberFormat("en-US", { style: "currency", currency: currency ?? "USD" }).format(amount);
}
