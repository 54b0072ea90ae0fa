import { createMemo, Show } from "solid-js";

/** How full the agent's memory of the conversation is. */
export function ContextMeter(props: { usage: { used: number | null; size: number | null } | null }) {
  const usage = createMemo(() => {
    const { used, size } = props.usage ?? {};
    return used == null ? null : { used, size: size ?? null };
  });
  return (
    <Show when={usage()}>
      {(now) => (
        <span class="copilot-usage">
          <Show when={now().size}>
            {(size) => (
              <meter min={0} max={size()} high={size() * 0.8} value={now().used} aria-label="Context in use" />
            )}
          </Show>
          {short(now().used)}
          {now().size === null ? "" : ` of ${short(now().size ?? 0)}`} tokens
        </span>
      )}
    </Show>
  );
}

function short(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}
