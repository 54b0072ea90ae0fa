import { createSignal, Show } from "solid-js";
import { api, sentence } from "../api/client";
import { watch_only, watchesOnly } from "../state/device";
import type { NeededLogin } from "../state/model";
import { Icon } from "./Icon";
import { LoginDialog } from "./LoginDialog";
import { Prose } from "./Prose";
import { Spinner } from "./Spinner";

/** An agent that waits for a login, and whether it has one that can be run from here. */
export type LoginAgent = { id: string; title: string; canLogin: boolean };

interface LoginCardProps {
  login: NeededLogin;
  agent: LoginAgent;
  /** Somebody has logged in, or says so. */
  onTried(): void;
}

/** The agent waits until somebody has logged it in. */
export function LoginCard(props: LoginCardProps) {
  const [dialog, setDialog] = createSignal(false);
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  const tryAgain = async () => {
    setBusy(true);
    setError(null);
    try {
      await api.loggedIn(props.agent.id);
      props.onTried();
    } catch (reason) {
      setError(sentence(reason));
    }
    setBusy(false);
  };
  return (
    <article class="card approval login" tabindex="-1" aria-label="Login required">
      <h2>
        <Icon name="key" />
        <span>{props.login.again ? "Still not logged in" : "Login required"}</span>
      </h2>
      <p class="card-text">
        <Prose text={props.login.text} />
      </p>
      <p class="card-meta">Your message waits and is sent as soon as the agent can work.</p>
      <Show when={error()}>
        {(message) => (
          <p class="inline-error" role="alert">
            {message()}
          </p>
        )}
      </Show>
      <Show
        when={!props.login.trying}
        fallback={
          <p class="log-hint" role="status">
            <Spinner /> Trying again…
          </p>
        }
      >
        <div class="card-actions">
          <Show when={props.agent.canLogin}>
            <button
              type="button"
              class="button primary"
              disabled={watchesOnly()}
              title={watchesOnly() ? watch_only : undefined}
              onClick={() => setDialog(true)}
            >
              Log in
            </button>
          </Show>
          <button
            type="button"
            class="button"
            disabled={busy() || watchesOnly()}
            title={watchesOnly() ? watch_only : undefined}
            onClick={tryAgain}
          >
            I have logged in, try again
          </button>
        </div>
      </Show>
      <Show when={dialog()}>
        <LoginDialog
          agent={props.agent}
          finished="Logged in. Your message is on its way."
          onFinished={() => props.onTried()}
          onClose={() => setDialog(false)}
        />
      </Show>
    </article>
  );
}
