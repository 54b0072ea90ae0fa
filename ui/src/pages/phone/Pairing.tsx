import { createSignal, For, onCleanup, Show } from "solid-js";
import type { DeviceLink } from "../../api/types";
import { CopyButton } from "../../kit/CopyButton";
import { Spinner } from "../../kit/Spinner";
import { isLoopback } from "./reach";

const second_ms = 1_000;

interface PairingProps {
  link: DeviceLink;
  onAgain(): void;
  onClose(): void;
}

/** One link in three forms: a picture for a camera, the link, and a code to type. Where only this computer can open it, there is no picture. */
export function Pairing(props: PairingProps) {
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), second_ms);
  onCleanup(() => clearInterval(timer));
  const left_s = () => Math.max(0, Math.ceil((Date.parse(props.link.expires_at) - now()) / second_ms));
  const address = () => new URL(props.link.url);
  const isHere = () => isLoopback(address().hostname);
  return (
    <Show
      when={left_s() > 0}
      fallback={
        <p role="status">
          This link has expired.{" "}
          <button type="button" class="button small" onClick={() => props.onAgain()}>
            New code
          </button>
        </p>
      }
    >
      <div class="pairing-ways">
        <Show when={!isHere()}>
          <img
            class="qr"
            src={`data:image/svg+xml,${encodeURIComponent(props.link.qr_svg)}`}
            alt="QR code of the link"
            width="200"
            height="200"
          />
        </Show>
        <div class="pairing-words">
          <Show when={!isHere()} fallback={<p>This link works only on this computer. Open it in another browser:</p>}>
            <Show
              when={props.link.fingerprint}
              fallback={<p>Point the phone’s camera at the code, or open this link there:</p>}
            >
              {(fingerprint) => <Steps fingerprint={fingerprint()} />}
            </Show>
          </Show>
          <p class="pairing-link">
            <code>{props.link.url}</code>
            <CopyButton label="Copy the link" text={() => props.link.url} />
          </p>
          <p>
            Or open <code>{address().origin}</code> and type <span class="pairing-code">{props.link.code}</span>
          </p>
        </div>
      </div>
      <p class="pairing-left">
        <Spinner />
        <span>
          Waiting for {isHere() ? "the other browser" : "the phone"}. Single use, expires in {Math.floor(left_s() / 60)}
          :{String(left_s() % 60).padStart(2, "0")}.
        </span>
        <button type="button" class="button quiet small" onClick={() => props.onAgain()}>
          New code
        </button>
      </p>
      <Show when={props.link.fingerprint && !isHere()}>
        <p class="phone-hint">
          With this certificate, phones don’t allow notifications. Tailscale or your own domain do.
        </p>
      </Show>
      <div class="add-actions end">
        <button type="button" class="button" onClick={() => props.onClose()}>
          Done
        </button>
      </div>
    </Show>
  );
}

const bytes_per_line = 8;

/** The warning of the phone's browser is compared with this screen: a page on the phone could show anything. */
function Steps(props: { fingerprint: string }) {
  const lines = () => {
    const bytes = props.fingerprint.split(":");
    const count = Math.ceil(bytes.length / bytes_per_line);
    return Array.from({ length: count }, (_, at) =>
      bytes.slice(at * bytes_per_line, (at + 1) * bytes_per_line).join(":"),
    );
  };
  return (
    <>
      <ol class="pairing-steps">
        <li>Point the phone’s camera at the code.</li>
        <li>Its browser shows a warning. Accept it only if the SHA-256 fingerprint of the certificate matches:</li>
      </ol>
      <code class="fingerprint">
        <For each={lines()}>{(line) => <span>{line}</span>}</For>
      </code>
    </>
  );
}
