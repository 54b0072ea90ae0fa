import { For, Show } from "solid-js";
import type { Trust } from "../api/types";
import { InlineError } from "../kit/InlineError";
import { Spinner } from "../kit/Spinner";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import type { TrustState } from "../state/trust";

/** A project wants more than it may by itself: the very lines, what each does, and the choice. */
export function TrustBanner(props: { trust: TrustState }) {
  const { busy, error, submit } = createSubmit();
  const file = () => props.trust.file();
  return (
    <section class="banner trust" aria-label="This project wants to change settings">
      <Show
        when={!props.trust.restarting()}
        fallback={
          <p role="status">
            <Spinner /> Restarting VoxPilot with these settings…
          </p>
        }
      >
        <h2>This project wants to change settings</h2>
        <p>
          <code class="trust-path">
            <Visible text={file()?.path ?? ""} />
          </code>{" "}
          came with the project. VoxPilot ignores these lines until you trust them. Whoever wrote them can run programs
          on this machine and see what you send.
        </p>
        <ol class="trust-lines" tabindex="0" aria-label="Lines of the file">
          <For each={file()?.lines}>
            {(line, index) => (
              <li>
                <span class="trust-number">{line.line}</span>
                <code>
                  <Visible text={line.text} />
                </code>
                <Show when={line.why !== file()?.lines[index() - 1]?.why}>
                  <span class="trust-why">
                    <Visible text={line.why} />
                  </span>
                </Show>
              </li>
            )}
          </For>
        </ol>
        <Scripts scripts={file()?.scripts ?? []} />
        <InlineError message={error() ?? file()?.problem ?? null} />
        <div class="banner-actions">
          <button
            type="button"
            class="button"
            disabled={busy() || file()?.problem != null}
            onClick={() => void submit(() => props.trust.consent())}
          >
            Trust this file
          </button>
          <button type="button" class="button main" disabled={busy()} onClick={() => props.trust.later()}>
            Not now
          </button>
        </div>
      </Show>
    </section>
  );
}

/** The files of the project that those lines run: consent covers what is in them. */
function Scripts(props: { scripts: Trust["scripts"] }) {
  return (
    <Show when={props.scripts.length > 0}>
      <p>
        It runs these files of the project. Trust ends when one of them changes; files that they load aren't checked.
      </p>
      <ul class="trust-scripts">
        <For each={props.scripts}>
          {(script) => (
            <li>
              <Show when={script.text != null} fallback={<ScriptName script={script} />}>
                <details>
                  <summary>
                    <ScriptName script={script} />
                  </summary>
                  <pre class="tool-output" tabindex="0">
                    <Visible text={script.text ?? ""} />
                  </pre>
                </details>
              </Show>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

function ScriptName(props: { script: Trust["scripts"][number] }) {
  return (
    <>
      <code>
        <Visible text={props.script.path} />
      </code>{" "}
      <span class="trust-why">
        {props.script.note ?? `${props.script.bytes} bytes, SHA-256 ${props.script.sha256?.slice(0, 12)}…`}
      </span>
    </>
  );
}
