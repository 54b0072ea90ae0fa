import { Show } from "solid-js";
import { InlineError } from "../kit/InlineError";
import { Spinner } from "../kit/Spinner";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { watchesOnly } from "../state/device";
import type { TrustState } from "../state/trust";

/** A project's file that counts because somebody trusts it, and the way to take that back. */
export function TrustedFile(props: { trust: TrustState }) {
  const { busy, error, submit } = createSubmit();
  const trusted = () => {
    const file = props.trust.file();
    return file?.state === "trusted" ? file : undefined;
  };
  return (
    <>
      <Show when={props.trust.restarting()}>
        <p role="status">
          <Spinner /> Restarting VoxPilot…
        </p>
      </Show>
      <Show when={trusted()}>
        {(file) => (
          <div class="trusted-file">
            <span>
              Trusted project file:{" "}
              <code>
                <Visible text={file().path} />
              </code>
            </span>
            <button
              type="button"
              class="button small danger"
              disabled={busy() || watchesOnly()}
              onClick={() => void submit(() => props.trust.revoke())}
            >
              Revoke
            </button>
          </div>
        )}
      </Show>
      <InlineError message={error()} />
    </>
  );
}
