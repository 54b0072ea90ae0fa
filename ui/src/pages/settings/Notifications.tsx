import { createSignal, Match, onMount, Show, Switch } from "solid-js";
import { pagesApi } from "../../api/pages";
import { Button } from "../../kit/Button";
import { InlineError } from "../../kit/InlineError";
import { Switch as Toggle } from "../../kit/small";
import { createSubmit } from "../../kit/submit";
import { watch_only, watchesOnly } from "../../state/device";
import { lookAtPush, turnPushOff, turnPushOn } from "../../state/push";
import { type PushState, pushState } from "../../state/pushState";

/** What stands in the way, and what to do about it. */
const obstacles: Partial<Record<PushState, string>> = {
  insecure:
    "Browsers allow notifications only on safe addresses. Open this page over HTTPS, on localhost or through Tailscale.",
  install:
    "On an iPhone or iPad, add this page to the home screen first: the share button, then “Add to Home Screen”. Open it from there and come back here.",
  unsupported: "This browser doesn’t support notifications.",
  denied:
    "Notifications are blocked for this page. Allow them in the browser’s site settings, next to the address, then reload.",
};

/** Being told on this device, also while the page is closed. */
export function Notifications() {
  const { busy, error, submit } = createSubmit();
  const [tried, setTried] = createSignal(false);
  onMount(() => void lookAtPush());
  const isOn = () => pushState() === "on";
  return (
    <>
      <Switch
        fallback={
          <>
            <Toggle
              label="Notifications on this device"
              on={isOn()}
              disabled={busy() || pushState() === "unknown"}
              onChange={(on) => {
                setTried(false);
                void submit(on ? turnPushOn : turnPushOff);
              }}
            />
            <Show when={isOn()}>
              <Button small disabled={busy()} onClick={async () => setTried(await submit(() => pagesApi.testPush()))}>
                Send a test
              </Button>
            </Show>
            <Show when={tried()}>
              <span class="setting-note" role="status">
                Sent. It should appear in a moment.
              </span>
            </Show>
          </>
        }
      >
        <Match when={watchesOnly()}>
          <span class="setting-note">{watch_only} Notifications are for devices that can answer.</span>
        </Match>
        <Match when={obstacles[pushState()]}>{(text) => <span class="setting-note">{text()}</span>}</Match>
      </Switch>
      <InlineError message={error()} />
    </>
  );
}
