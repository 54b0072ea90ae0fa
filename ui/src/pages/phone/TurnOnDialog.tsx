import { createSignal, For, Show } from "solid-js";
import type { Reach } from "../../api/types";
import { Button } from "../../kit/Button";
import { Dialog } from "../../kit/Dialog";
import { Icon } from "../../kit/Icon";
import { InlineError } from "../../kit/InlineError";
import { createSubmit } from "../../kit/submit";

interface TurnOnProps {
  server: Reach;
  onTurnOn(address: string): Promise<void>;
  onClose(): void;
}

/** The consent to listen in the network: what opens, at which address, and what stays as it is. */
export function TurnOnDialog(props: TurnOnProps) {
  const [chosen, setChosen] = createSignal(props.server.network.candidates[0]?.address ?? "");
  const candidate = () => props.server.network.candidates.find(({ address }) => address === chosen());
  const host = () => (chosen().includes(":") ? `[${chosen()}]` : chosen());
  const { busy, error, submit } = createSubmit();
  const turnOn = async () => {
    if (await submit(() => props.onTurnOn(chosen()))) props.onClose();
  };
  return (
    <Dialog
      title={candidate()?.private === false ? "Open VoxPilot to the internet?" : "Open VoxPilot to your Wi-Fi?"}
      class="turn-on"
      foot={
        <>
          <Button onClick={() => props.onClose()}>Cancel</Button>
          <Button kind="main" disabled={busy()} onClick={() => void turnOn()}>
            {busy() ? "Turning on…" : "Turn on"}
          </Button>
        </>
      }
      onClose={props.onClose}
    >
      <ul class="consent">
        <li>
          <Icon name="check" />
          <span>
            {candidate()?.private === false ? "Anyone who can reach this computer" : "Anyone on this network"} can open
            the sign-in page. Only devices you add get further.
          </span>
        </li>
        <li>
          <Icon name="check" />
          <span>
            The new address is <code>{`https://${host()}:${props.server.port}`}</code>. This page stays where it is.
          </span>
        </li>
        <li>
          <Icon name="check" />
          <span>Nothing restarts. It stays on until you turn it off here, also after a restart.</span>
        </li>
      </ul>
      <Show when={props.server.network.candidates.length > 1}>
        <label class="way-field">
          Address of this computer
          <span class="select">
            <select class="field" value={chosen()} onChange={(event) => setChosen(event.currentTarget.value)}>
              <For each={props.server.network.candidates}>
                {({ address }) => <option value={address}>{address}</option>}
              </For>
            </select>
            <Icon name="more" />
          </span>
        </label>
      </Show>
      <InlineError message={error()} />
    </Dialog>
  );
}
