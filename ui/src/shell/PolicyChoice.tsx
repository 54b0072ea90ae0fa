import { Show } from "solid-js";
import { Button } from "../kit/Button";
import { InlineError } from "../kit/InlineError";
import { Banner } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { watch_only, watchesOnly } from "../state/device";
import type { ServerState } from "../state/server";

/** That agents work without asking is the default; here somebody sees it and chooses, once. */
export function PolicyChoice(props: { server: ServerState }) {
  const { busy, error, submit } = createSubmit();
  const isOpen = () => {
    const info = props.server.info();
    return info !== null && info.model !== "relay" && !info.policy_chosen && info.permission_policy === "auto";
  };
  const choose = (policy: "auto" | "ask", text: string) => (
    <Button
      small
      disabled={busy() || watchesOnly()}
      title={watchesOnly() ? watch_only : undefined}
      onClick={() => void submit(() => props.server.choose(policy))}
    >
      {text}
    </Button>
  );
  return (
    <Show when={isOpen()}>
      <section class="policy-choice" aria-label="Approvals">
        <Banner
          status="waiting"
          actions={
            <>
              {choose("auto", "Keep auto-approve")}
              {choose("ask", "Ask me first")}
            </>
          }
        >
          <b>Agents work without asking.</b> Every command and change of delegated work is approved automatically.
        </Banner>
        <InlineError message={error()} />
      </section>
    </Show>
  );
}
