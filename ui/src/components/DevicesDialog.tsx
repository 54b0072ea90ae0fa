import { createSignal, For, onCleanup, onMount, Show } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { api, sentence } from "../api/client";
import type { Device } from "../api/types";
import { setDevice, watch_only, watchesOnly } from "../state/device";
import type { TrustState } from "../state/trust";
import { Activity } from "./Activity";
import { AddDevice } from "./AddDevice";
import { DeviceRow } from "./DeviceRow";
import { InlineError } from "./InlineError";
import { createSubmit } from "./submit";
import { TrustedFile } from "./TrustedFile";

interface DevicesDialogProps {
  trust: TrustState;
  /** This device has signed itself out. */
  onLeave(): void;
  onClose(): void;
}

const poll_ms = 2_000;

/** Who is let in: seen, named, let in, shut out. And what they did. */
export function DevicesDialog(props: DevicesDialogProps) {
  let dialog: HTMLDialogElement | undefined;
  onMount(() => dialog?.showModal());
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
    await api.renameDevice(device.id, name);
    setState("devices", (one) => one.id === device.id, { name });
    if (device.current) setDevice({ ...device, name });
  };
  const revoke = async (device: Device) => {
    await api.revokeDevice(device.id);
    take(state.devices.filter((one) => one.id !== device.id));
  };
  const { busy, error, submit } = createSubmit();
  const leave = () =>
    submit(async () => {
      await api.logout();
      dialog?.close();
      props.onLeave();
    });

  return (
    <dialog ref={dialog} class="dialog devices-dialog" aria-labelledby="devices-title" onClose={() => props.onClose()}>
      <h2 id="devices-title">Devices</h2>
      <InlineError message={failure()} />
      <ul class="devices" aria-label="Devices that are let in">
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
            <button
              type="button"
              class="button"
              disabled={watchesOnly()}
              title={watchesOnly() ? watch_only : undefined}
              onClick={() => setAdding(true)}
            >
              Add a device
            </button>
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
      <div class="dialog-actions">
        <button type="button" class="button danger" disabled={busy()} onClick={() => void leave()}>
          Sign out this device
        </button>
        <button type="button" class="button" onClick={() => dialog?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
