import { batch, createMemo, createSignal, For, onCleanup, Show } from "solid-js";
import { pagesApi } from "../api/pages";
import type { Device, DeviceKind, DeviceLink } from "../api/types";
import { copyText } from "../kit/copy";
import { Icon } from "../kit/Icon";
import { InlineError } from "../kit/InlineError";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";

const kinds: [DeviceKind, string, string][] = [
  ["full", "Full", "can do everything that you can"],
  ["read-only", "Watch only", "sees everything, and can neither send nor approve"],
];

interface AddDeviceProps {
  /** Those that are let in, kept fresh. */
  devices: Device[];
  onClose(): void;
}

/** A way in for another device, and word of it when it has come. */
export function AddDevice(props: AddDeviceProps) {
  const [kind, setKind] = createSignal<DeviceKind>("full");
  const [link, setLink] = createSignal<DeviceLink | null>(null);
  /** Who was there before the link was. */
  const [before, setBefore] = createSignal<string[]>([]);
  const { busy, error, submit } = createSubmit();
  const make = () =>
    submit(async () => {
      const known = props.devices.map(({ id }) => id);
      const made = await pagesApi.makeLink(kind());
      batch(() => {
        setBefore(known);
        setLink(made);
      });
    });
  /** Who has come stays told, also when it is shut out again at once. */
  const arrived = createMemo<Device | undefined>((known) =>
    link() === null ? undefined : (known ?? props.devices.find(({ id }) => !before().includes(id))),
  );
  return (
    <section class="add-device" aria-label="Add a device">
      <h3>Add a phone or another device</h3>
      <Show
        when={arrived()}
        fallback={
          <Show
            when={link()}
            fallback={
              <>
                <fieldset class="kinds">
                  <legend class="visually-hidden">What it may do</legend>
                  <For each={kinds}>
                    {([value, label, about]) => (
                      <label>
                        <input
                          type="radio"
                          name="device-kind"
                          value={value}
                          checked={value === kind()}
                          onChange={() => setKind(value)}
                        />
                        <span>
                          <strong>{label}</strong> {about}
                        </span>
                      </label>
                    )}
                  </For>
                </fieldset>
                <div class="add-actions">
                  <button type="button" class="button main" disabled={busy()} onClick={() => void make()}>
                    Make a link
                  </button>
                  <button type="button" class="button" onClick={() => props.onClose()}>
                    Cancel
                  </button>
                </div>
              </>
            }
          >
            {(made) => <Pairing link={made()} onAgain={() => void make()} onClose={() => props.onClose()} />}
          </Show>
        }
      >
        {(device) => (
          <p class="arrived" role="status">
            <Icon name="check" />
            <span>
              “<Visible text={device().name} />” has come in.
            </span>
            <button type="button" class="button small" onClick={() => props.onClose()}>
              Done
            </button>
          </p>
        )}
      </Show>
      <InlineError message={error()} />
    </section>
  );
}

const second_ms = 1_000;

/** The same way in, in three forms: a picture for a phone, a link, a code to type. */
function Pairing(props: { link: DeviceLink; onAgain(): void; onClose(): void }) {
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), second_ms);
  onCleanup(() => clearInterval(timer));
  const left_s = () => Math.max(0, Math.ceil((Date.parse(props.link.expires_at) - now()) / second_ms));
  const [told, setTold] = createSignal("");
  const copy = () =>
    copyText(props.link.url).then(
      () => setTold("Copied."),
      () => setTold("The browser did not let it be copied."),
    );
  return (
    <Show
      when={left_s() > 0}
      fallback={
        <p role="status">
          This link is no longer good.{" "}
          <button type="button" class="button small" onClick={() => props.onAgain()}>
            Make a new one
          </button>
        </p>
      }
    >
      <div class="pairing-ways">
        <img
          class="qr"
          src={`data:image/svg+xml,${encodeURIComponent(props.link.qr_svg)}`}
          alt="QR code of the link"
          width="200"
          height="200"
        />
        <div class="pairing-words">
          <p>Point the camera of the other device at the picture, or open this link there:</p>
          <p class="pairing-link">
            <code>{props.link.url}</code>
            <button type="button" class="button small" onClick={() => void copy()}>
              <Icon name="copy" /> Copy
            </button>
            <span role="status">{told()}</span>
          </p>
          <p>
            Or open <code>{new URL("/login", props.link.url).href}</code> there and type this code:
          </p>
          <p class="pairing-code">{props.link.code}</p>
        </div>
      </div>
      <Show when={isHere(props.link.url)}>
        <p class="pairing-note">
          VoxPilot listens on this machine only, so the link works only here. How another device reaches it is told in
          the README, under “From a phone”.
        </p>
      </Show>
      <Show when={props.link.fingerprint}>
        {(fingerprint) => (
          <div class="pairing-note">
            <p>
              VoxPilot made its own certificate, so the other device will warn. Go on only if the SHA-256 fingerprint
              that it shows for the certificate is this one, to the last character:
            </p>
            <code class="fingerprint">{fingerprint()}</code>
          </div>
        )}
      </Show>
      <div class="add-actions">
        <span class="pairing-left">
          Good once, for {Math.floor(left_s() / 60)}:{String(left_s() % 60).padStart(2, "0")} more
        </span>
        <button type="button" class="button" onClick={() => props.onClose()}>
          Done
        </button>
      </div>
    </Show>
  );
}

function isHere(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}
