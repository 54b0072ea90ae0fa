import { createEffect, createSignal, Match, on, onCleanup, Show, Switch } from "solid-js";
import { IconButton } from "../kit/Button";
import { later } from "../kit/later";
import { Banner, Dot } from "../kit/small";
import { clock } from "../kit/time";
import { Visible } from "../kit/Visible";
import type { Break } from "../state/breaks";
import { watchesOnly } from "../state/device";
import type { ServerState } from "../state/server";
import type { TrustState } from "../state/trust";

const TrustBanner = later(async () => (await import("./TrustBanner")).TrustBanner);

/** A project's file that waits for consent, above everything else. */
export function TopBanner(props: { trust: TrustState }) {
  return (
    <Show when={!watchesOnly() && (props.trust.asks() || props.trust.restarting())}>
      <TrustBanner trust={props.trust} />
    </Show>
  );
}

const picked_up_ms = 6_000;

/** One at a time, the gravest first, above the composer. */
export function Banners(props: { server: ServerState; broken: Break | null }) {
  const [isBack, setBack] = createSignal(false);
  createEffect(
    on(
      () => props.broken !== null,
      (isBroken, was = false) => {
        setBack(was && !isBroken);
        if (!isBack()) return;
        const timer = setTimeout(() => setBack(false), picked_up_ms);
        onCleanup(() => clearTimeout(timer));
      },
    ),
  );
  const disk = () => props.server.info()?.disk?.warning;
  const tries = () => {
    const count = props.broken?.tries ?? 0;
    return count === 0 ? "" : count === 1 ? "1 try so far." : `${count} tries so far.`;
  };
  return (
    <div class="dock-banner">
      <Switch>
        <Match when={props.broken}>
          {(broken) => (
            <Banner>
              <Dot status="running" quiet />{" "}
              <span role="status">
                <b>Reconnecting.</b> No connection since {clock(broken().since, "second")}. What you write is kept.
              </span>{" "}
              {/* Not read out: it changes with every attempt. */}
              <span class="mute num">{tries()}</span>
            </Banner>
          )}
        </Match>
        <Match when={disk()}>
          {(warning) => (
            <Banner status="failed" icon="warning">
              <span role="status">
                <Visible text={warning()} />
              </span>
            </Banner>
          )}
        </Match>
        <Match when={isBack()}>
          <Banner icon="retry" actions={<IconButton icon="close" label="Close" onClick={() => setBack(false)} />}>
            <span role="status">
              <b>Picked up where it was.</b> Nothing was lost.
            </span>
          </Banner>
        </Match>
      </Switch>
    </div>
  );
}
