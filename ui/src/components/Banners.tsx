import { Show } from "solid-js";
import { watchesOnly } from "../state/device";
import type { ServerState } from "../state/server";
import type { TrustState } from "../state/trust";
import { TrustBanner } from "./TrustBanner";
import { Visible } from "./Visible";

/** What concerns the whole server, above everything else. */
export function Banners(props: { trust: TrustState; server: ServerState }) {
  return (
    <div class="banners">
      <Show when={!watchesOnly() && (props.trust.asks() || props.trust.restarting())}>
        <TrustBanner trust={props.trust} />
      </Show>
      <Show when={props.server.info()?.disk?.warning}>
        {(warning) => (
          <p class="banner disk" role="status">
            <Visible text={warning()} />
          </p>
        )}
      </Show>
    </div>
  );
}
