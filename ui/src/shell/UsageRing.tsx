import { createSignal, onCleanup, Show } from "solid-js";
import { later } from "../kit/later";
import { Ring } from "../kit/small";
import type { AgentOptions } from "../state/agentOptions";

const UsageCard = later(async () => (await import("./UsageCard")).UsageCard);

/** How full the agent's context is; it opens what that comes to in tokens. */
export function UsageRing(props: { options: AgentOptions }) {
  const [isOpen, setOpen] = createSignal(false);
  const part = () => {
    const usage = props.options.usage();
    return usage ? usage.used / usage.size : null;
  };
  const isKnown = () => props.options.sessions.some(({ usage }) => usage != null);
  const label = () => {
    const known = part();
    return known === null ? "Tokens used" : `${Math.round(known * 100)} % of the context used`;
  };
  let box: HTMLSpanElement | undefined;
  const onOutside = (event: Event) => isOpen() && !box?.contains(event.target as Node) && setOpen(false);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen()) return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(false);
    box?.querySelector("button")?.focus();
  };
  document.addEventListener("pointerdown", onOutside, true);
  onCleanup(() => document.removeEventListener("pointerdown", onOutside, true));
  return (
    <Show when={isKnown()}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what the button opened */}
      <span ref={box} class="usage-ring" onKeyDown={onKey}>
        <button
          type="button"
          class="icon-button"
          aria-label={label()}
          title={label()}
          aria-expanded={isOpen()}
          onPointerEnter={() => void UsageCard.preload()}
          onClick={() => setOpen(!isOpen())}
        >
          <Ring part={part() ?? 0} label="" />
        </button>
        <Show when={isOpen()}>
          <section class="menu usage-popover" aria-label="Usage">
            <UsageCard sessions={props.options.sessions} />
          </section>
        </Show>
      </span>
    </Show>
  );
}
