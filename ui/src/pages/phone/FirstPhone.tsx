import { createEffect, createSignal, on, onCleanup } from "solid-js";
import { api } from "../../api/client";
import type { Device } from "../../api/types";
import { AddDevice } from "../AddDevice";

const poll_ms = 2_000;

/** The step that adds a phone, open in its place. */
export function FirstPhone(props: { onAdded(): void; onClose(): void }) {
  const [devices, setDevices] = createSignal<Device[]>([]);
  const load = () =>
    api.devices().then(
      (found) => setDevices(found.devices),
      // The next look asks again.
      () => {},
    );
  const timer = setInterval(load, poll_ms);
  onCleanup(() => clearInterval(timer));
  void load();
  createEffect(
    on(
      () => devices().length,
      (count, before) => before !== undefined && before > 0 && count > before && props.onAdded(),
      { defer: true },
    ),
  );
  return <AddDevice isInline devices={devices()} onClose={props.onClose} />;
}
