import { createMemo, createSignal, Index, Match, onCleanup, onMount, Switch } from "solid-js";
import { sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import { Spinner } from "../kit/Spinner";
import { Visible } from "../kit/Visible";
import { readOutcome, readPieces } from "./loginText";

interface LoginDialogProps {
  agent: { id: string; title: string };
  /** What it comes to when it has worked. */
  finished: string;
  onFinished(): void;
  onClose(): void;
}

type Step = "running" | "finished" | "failed";

/** The agent's own login, run by the server and shown as it prints. Closing it ends the login. */
export function LoginDialog(props: LoginDialogProps) {
  const [output, setOutput] = createSignal("");
  const [step, setStep] = createSignal<Step>("running");
  const [error, setError] = createSignal<string | null>(null);
  const pieces = createMemo(() => readPieces(output()));
  let dialog: HTMLDialogElement | undefined;
  let request = new AbortController();

  const run = async () => {
    request = new AbortController();
    const { signal } = request;
    setOutput("");
    setError(null);
    setStep("running");
    try {
      await pagesApi.login(props.agent.id, (text) => setOutput((before) => before + text), signal);
      setStep(readOutcome(output()) ?? "failed");
    } catch (reason) {
      if (signal.aborted) return;
      setError(sentence(reason));
      setStep("failed");
    }
    if (step() === "finished") props.onFinished();
  };
  onMount(() => {
    dialog?.showModal();
    void run();
  });
  onCleanup(() => request.abort());

  return (
    <dialog ref={dialog} class="dialog login-dialog" aria-labelledby="login-title" onClose={() => props.onClose()}>
      <h2 id="login-title">Sign in to {props.agent.title}</h2>
      <pre class="login-output" tabindex="0" role="group" aria-live="polite" aria-label="Sign-in output">
        <Index each={pieces()}>
          {(piece) => (
            <Switch fallback={<Visible text={piece().text} />}>
              <Match when={piece().type === "link"}>
                <a href={piece().text} target="_blank" rel="noopener noreferrer">
                  <Visible text={piece().text} />
                </a>
              </Match>
              <Match when={piece().type === "code"}>
                <code class="device-code">{piece().text}</code>
              </Match>
            </Switch>
          )}
        </Index>
      </pre>
      <p class="login-step" role="status">
        <Switch>
          <Match when={step() === "running"}>
            <Spinner /> Waiting for the sign-in. Closing this cancels it.
          </Match>
          <Match when={step() === "finished"}>{props.finished}</Match>
          <Match when={error()}>{(message) => <span class="inline-error">{message()}</span>}</Match>
          <Match when={step() === "failed"}>
            <span class="inline-error">Sign-in failed.</span>
          </Match>
        </Switch>
      </p>
      <div class="dialog-actions">
        <Switch>
          <Match when={step() === "failed"}>
            <button type="button" class="button" onClick={() => void run()}>
              Try again
            </button>
          </Match>
        </Switch>
        <button
          type="button"
          class="button"
          classList={{ main: step() === "finished" }}
          onClick={() => dialog?.close()}
        >
          {step() === "running" ? "Cancel" : "Close"}
        </button>
      </div>
    </dialog>
  );
}
