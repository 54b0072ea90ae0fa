import { createSignal, Show } from "solid-js";
import { sentence } from "../../api/client";
import { pagesApi } from "../../api/pages";
import { InlineError } from "../../kit/InlineError";
import { Spinner } from "../../kit/Spinner";
import type { NeededLogin } from "../../state/model";
import { LoginDialog } from "../LoginDialog";
import { Prose } from "../Prose";
import { AnswerButton } from "./AnswerButton";
import { AskCard } from "./AskCard";
import { login_id } from "./shown";

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
      await pagesApi.loggedIn(props.agent.id);
      props.onTried();
    } catch (reason) {
      setError(sentence(reason));
    }
    setBusy(false);
  };
  return (
    <AskCard
      id={login_id}
      class="login"
      label="Sign-in required"
      title={props.login.again ? "Still not signed in" : "Sign-in required"}
      agent={props.agent.title}
      session={props.login.sessionName}
      foot={(gate) => (
        <footer>
          <InlineError message={error()} />
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
                <AnswerButton gate={gate} busy={false} class="ask-allow" kind="main" onAnswer={() => setDialog(true)}>
                  Sign in
                </AnswerButton>
              </Show>
              <AnswerButton gate={gate} busy={busy()} onAnswer={() => void tryAgain()}>
                I’ve signed in, try again
              </AnswerButton>
              <p class="ask-note">Your message is sent as soon as the agent is signed in.</p>
            </div>
          </Show>
        </footer>
      )}
    >
      <p class="card-text">
        <Prose text={props.login.text} />
      </p>
      <Show when={dialog()}>
        <LoginDialog
          agent={props.agent}
          finished="Signed in. Your message is on its way."
          onFinished={() => props.onTried()}
          onClose={() => setDialog(false)}
        />
      </Show>
    </AskCard>
  );
}
