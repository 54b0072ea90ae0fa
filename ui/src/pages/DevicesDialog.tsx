import { createSignal, For, onCleanup, Show } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { api, sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import type { Device } from "../api/types";
import { Button } from "../kit/Button";
import { Dialog } from "../kit/Dialog";
import { InlineError } from "../kit/InlineError";
import { createSubmit } from "../kit/submit";
import { TrustedFile } from "../shell/TrustedFile";
import { setDevice, watch_only, watchesOnly } from "../state/device";
import type { TrustState } from "../state/trust";
import { Activity } from "./Activity";
import { AddDevice } from "./AddDevice";
import { DeviceRow } from "./DeviceRow";

interface DevicesDialogProps {
  trust: TrustState;
  /** This device has signed itself out. */
  onLeave(): void;
  onClose(): void;
}

const poll_ms = 2_000;

/** Who is let in: seen, named, let in, shut out. And what they did. */
export function DevicesDialog(props: DevicesDialogProps) {
  const [state, setState] = createStore<{ devices: Device[] }>({ devices: [] });
  const [failure, setFailure] = createSignal<string | null>(null);
  const [adding, setAdding] = createSignal(false);
  // A row that stays keeps what somebody is doing in it.
  const take = (devices: Device[]) => setState("devices", reconcile(devices, { key: "id" }));
  const load = () =>
    api.devices().then(
      ({ devices }) => {
        take(devices);
        setFailure(null);
      },
      (reason) => setFailure(sentence(reason)),
    );
  // Somebody who waits for a new device sees it come.
  const timer = setInterval(load, poll_ms);
  onCleanup(() => clearInterval(timer));
  void load();

  const rename = async (device: Device, name: string) => {
    await pagesApi.renameDevice(device.id, name);
    setState("devices", (one) => one.id === device.id, { name });
    if (device.current) setDevice({ ...device, name });
  };
  const revoke = async (device: Device) => {
    await pagesApi.revokeDevice(device.id);
    take(state.devices.filter((one) => one.id !== device.id));
  };
  const { busy, error, submit } = createSubmit();
  const leave = () =>
    submit(async () => {
      await api.logout();
      props.onLeave();
    });

  return (
    <Dialog
      title="Devices"
      class="devices-dialog"
      foot={
        <Button kind="deny" icon="signOut" disabled={busy()} onClick={() => void leave()}>
          Sign out this device
        </Button>
      }
      onClose={() => props.onClose()}
    >
      <InlineError message={failure()} />
      <ul class="devices card" aria-label="Signed-in devices">
        <For each={state.devices}>
          {(device) => (
            <DeviceRow device={device} onRename={(name) => rename(device, name)} onRevoke={() => revoke(device)} />
          )}
        </For>
      </ul>
      <Show
        when={adding()}
        fallback={
          <p class="devices-add">
            <Button
              icon="plus"
              disabled={watchesOnly()}
              title={watchesOnly() ? watch_only : undefined}
              onClick={() => setAdding(true)}
            >
              Add a device
            </Button>
          </p>
        }
      >
        <AddDevice devices={state.devices} onClose={() => setAdding(false)} />
      </Show>
      <TrustedFile trust={props.trust} />
      <Show when={!watchesOnly()}>
        <Activity />
      </Show>
      <InlineError message={error()} />
    </Dialog>
  );
}
