import { createResource, createSignal, createUniqueId, type JSX, Match, onCleanup, Show, Switch } from "solid-js";
import { ApiError, sentence } from "../../api/client";
import { pagesApi } from "../../api/pages";
import type { MainAiTrial, MainAiWanted } from "../../api/types";
import { Button } from "../../kit/Button";
import { Dialog } from "../../kit/Dialog";
import { Icon } from "../../kit/Icon";
import { InlineError } from "../../kit/InlineError";
import { Spinner } from "../../kit/Spinner";
import { watch_only, watchesOnly } from "../../state/device";
import { capital } from "../../state/failedStart";
import { visible } from "../../state/visible";
import { Select } from "./fields";
import { compatible, hostOf, providerText } from "./providers";

interface AddMainAiProps {
  model?: string | undefined;
  isWriting?: boolean;
  onAdded(model: string): void;
  onClose(): void;
}

type Step = "check" | "checking" | "choose" | "testing" | "done";

const other = "\n";
const ms_per_s = 1_000;
/** The server gives up after 10 s by itself. */
const longest_ms = 15_000;

/** From a provider and a key to a model that has answered. Whatever fails, what was typed stays. */
export function AddMainAi(props: AddMainAiProps) {
  const [known] = createResource(() => !watchesOnly(), pagesApi.mainAi);
  const view = () => (known.error === undefined ? known() : undefined);
  const obstacle = () => {
    if (watchesOnly()) return `${watch_only} Use one with full access.`;
    if (known.error !== undefined) return sentence(known.error);
    const found = view();
    if (found?.locked) return `It is set by ${found.locked}. Change it there and restart the server.`;
    if (found?.refused) return "This page came over plain HTTP. Open VoxPilot over HTTPS, or on the server itself.";
    return null;
  };
  return (
    <Show
      when={view() && obstacle() === null && view()}
      fallback={
        <Dialog title="Add a main AI" class="add-main-ai" onClose={() => props.onClose()}>
          <Show when={obstacle()} fallback={<Spinner />}>
            {(why) => (
              <p class="main-ai-status">
                <Icon name="lock" />
                <span>
                  <b>Keys can’t be added from here.</b> {why()}
                </span>
              </p>
            )}
          </Show>
        </Dialog>
      }
    >
      {(found) => <Form {...props} view={found()} />}
    </Show>
  );
}

type View = Awaited<ReturnType<typeof pagesApi.mainAi>>;

function Form(props: AddMainAiProps & { view: View }) {
  const now = props.view.current;
  const [provider, setProvider] = createSignal(now ? (now.provider ?? compatible) : "openai");
  const [baseUrl, setBaseUrl] = createSignal(now?.base_url ?? "");
  const [key, setKey] = createSignal("");
  const [model, setModel] = createSignal(props.model ?? "");
  const [models, setModels] = createSignal<string[]>([]);
  const [isTyped, setTyped] = createSignal(false);
  const [step, setStep] = createSignal<Step>("check");
  const [problem, setProblem] = createSignal<{ text: string; isKey: boolean } | null>(null);
  const [trial, setTrial] = createSignal<MainAiTrial | null>(null);
  const ids = { provider: createUniqueId(), url: createUniqueId(), key: createUniqueId(), model: createUniqueId() };
  let asking: AbortController | null = null;
  let stop = () => {};
  onCleanup(() => asking?.abort());

  const info = () => props.view.providers.find(({ id }) => id === provider());
  const hasAddress = () => provider() === compatible || provider() === "ollama";
  const name = () => providerText(provider());
  const isBusy = () => step() === "checking" || step() === "testing";
  const hasModels = () => ["choose", "testing", "done"].includes(step());
  const isReady = () =>
    info()?.needs_key ? key().trim() !== "" : provider() !== compatible || baseUrl().trim() !== "";
  const wanted = (): MainAiWanted => ({
    ...(provider() === compatible ? {} : { provider: provider() }),
    ...(hasAddress() && baseUrl().trim() !== "" ? { base_url: baseUrl().trim() } : {}),
    ...(key().trim() === "" ? {} : { api_key: key().trim() }),
    model: model().trim(),
  });
  /** Another provider or key has other models. */
  const startOver = (change: () => void) => {
    change();
    setProblem(null);
    setStep("check");
  };
  /** One step over the network; it ends by itself, or when somebody stops it. */
  const ask = async (during: Step, otherwise: Step, run: (signal: AbortSignal) => Promise<Step>) => {
    const mine = new AbortController();
    asking = mine;
    setProblem(null);
    setStep(during);
    const fail = (text: string, isKey = false) => {
      if (asking !== mine) return;
      setProblem({ text: capital(text), isKey });
      setStep(isKey ? "check" : otherwise);
    };
    const late = setTimeout(() => {
      fail("The server did not answer in time.");
      asking = null;
      mine.abort();
    }, longest_ms);
    stop = () => {
      asking = null;
      mine.abort();
      setStep(otherwise);
    };
    try {
      const next = await run(mine.signal);
      if (asking === mine) setStep(next);
    } catch (error) {
      const isKey = error instanceof ApiError && error.code === "model_unauthorized";
      fail(isKey ? `${name()} refused this key. Check it and try again.` : sentence(error), isKey);
    } finally {
      clearTimeout(late);
    }
  };
  const check = () =>
    ask("checking", "check", async (signal) => {
      const found = (await pagesApi.mainAiModels(wanted(), signal)).models;
      setModels(found);
      setTyped(found.length === 0);
      if (found.length > 0 && !found.includes(model())) setModel(found[0] ?? "");
      return "choose";
    });
  const add = () =>
    ask("testing", "choose", async (signal) => {
      const tried = await pagesApi.tryMainAi(wanted(), signal);
      // Stopped meanwhile: then nothing is kept.
      signal.throwIfAborted();
      setTrial(tried);
      await pagesApi.setMainAi(wanted(), signal);
      props.onAdded(model().trim());
      return "done";
    });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (step() === "done") props.onClose();
    else if (step() === "choose" && model().trim() !== "") void add();
    else if (step() === "check" && isReady()) void check();
  };
  const action = () => {
    if (step() === "choose" || step() === "testing") return problem() ? "Try again" : "Test and add";
    if (problem() && !problem()?.isKey) return "Try again";
    return info()?.needs_key ? "Check key" : "Load models";
  };
  return (
    <Dialog
      title="Add a main AI"
      class="add-main-ai"
      onClose={() => props.onClose()}
      foot={
        <>
          <Show when={props.isWriting}>
            <span class="main-ai-kept mute">Your message is still in the composer.</span>
          </Show>
          <Show
            when={step() !== "done"}
            fallback={
              <Button kind="main" onClick={() => props.onClose()}>
                Done
              </Button>
            }
          >
            <Button onClick={() => props.onClose()}>Cancel</Button>
            <Button
              kind="main"
              type="submit"
              form={`${ids.provider}-form`}
              disabled={isBusy() || (step() === "choose" ? model().trim() === "" : !isReady())}
            >
              {action()}
            </Button>
          </Show>
        </>
      }
    >
      <form class="main-ai-form" id={`${ids.provider}-form`} onSubmit={submit}>
        <div>
          <span class="main-ai-label" id={ids.provider}>
            Provider
          </span>
          <Select
            labelledBy={ids.provider}
            value={provider()}
            disabled={isBusy() || step() === "done"}
            options={[...props.view.providers.map(({ id }) => id), compatible].map((id) => ({
              value: id,
              text: providerText(id),
            }))}
            onChoose={async (id) => {
              startOver(() => setProvider(id));
              return true;
            }}
          />
        </div>
        <Show when={hasAddress()}>
          <Field id={ids.url} label="Base URL">
            <input
              id={ids.url}
              class="field"
              inputMode="url"
              autocomplete="off"
              spellcheck={false}
              placeholder={provider() === compatible ? "https://models.example/v1" : `http://${info()?.host}`}
              disabled={isBusy() || step() === "done"}
              value={baseUrl()}
              onInput={(event) => startOver(() => setBaseUrl(event.currentTarget.value))}
            />
          </Field>
        </Show>
        <Field id={ids.key} label="API key">
          <input
            id={ids.key}
            class="field"
            type="password"
            autocomplete="off"
            placeholder="Paste your key"
            aria-invalid={problem()?.isKey ?? false}
            aria-describedby={`${ids.key}-note`}
            disabled={isBusy() || step() === "done"}
            value={key()}
            onInput={(event) => startOver(() => setKey(event.currentTarget.value))}
          />
          <Show
            when={problem()?.isKey && problem()}
            fallback={
              <p class="main-ai-hint" id={`${ids.key}-note`}>
                {info()?.needs_key
                  ? "Saved on the server in a file only its user can read. It won’t be shown again."
                  : "Leave empty if the server needs none."}
              </p>
            }
          >
            {(bad) => <InlineError message={bad().text} />}
          </Show>
        </Field>
        <Show when={hasModels()}>
          <Show
            when={isTyped()}
            fallback={
              <div>
                <span class="main-ai-label" id={ids.model}>
                  Model
                </span>
                <Select
                  labelledBy={ids.model}
                  value={model()}
                  disabled={step() !== "choose"}
                  options={[
                    ...models().map((id) => ({ value: id, text: visible(id) })),
                    { value: other, text: "Another model, by name…" },
                  ]}
                  onChoose={async (id) => {
                    if (id === other) setTyped(true);
                    else setModel(id);
                    return id !== other;
                  }}
                />
                <p class="main-ai-hint">{models().length === 1 ? "1 model." : `${models().length} models.`}</p>
              </div>
            }
          >
            <Field id={ids.model} label="Model">
              <input
                id={ids.model}
                class="field"
                autocomplete="off"
                spellcheck={false}
                placeholder="Name of the model"
                disabled={step() !== "choose"}
                value={model()}
                onInput={(event) => setModel(event.currentTarget.value)}
              />
            </Field>
          </Show>
        </Show>
        <div role="status">
          <Status
            step={step()}
            name={provider() === compatible ? hostOf(baseUrl()) : name()}
            model={visible(model())}
            problem={problem()?.isKey ? null : (problem()?.text ?? null)}
            trial={trial()}
            onStop={() => stop()}
          />
        </div>
      </form>
    </Dialog>
  );
}

function Field(props: { id: string; label: string; children: JSX.Element }) {
  return (
    <div>
      <label class="main-ai-label" for={props.id}>
        {props.label}
      </label>
      {props.children}
    </div>
  );
}

interface StatusProps {
  step: Step;
  name: string;
  model: string;
  problem: string | null;
  trial: MainAiTrial | null;
  onStop(): void;
}

/** What is under way, what went wrong, or what came of it. */
function Status(props: StatusProps) {
  const answered = (trial: MainAiTrial) => {
    const seconds = (trial.took_ms / ms_per_s).toFixed(1);
    const tools = trial.uses_tools ? "and can use tools" : "but used no tool: it may not be able to delegate";
    return `${props.model} answered in ${seconds} s ${tools}`;
  };
  return (
    <Switch>
      <Match when={props.step === "checking" || props.step === "testing"}>
        <p class="main-ai-status">
          <Spinner />
          <span class="grow">
            {props.step === "checking" ? `Asking ${props.name} for its models` : `Asking ${props.model} for an answer`}
          </span>
          <Button kind="quiet" small onClick={() => props.onStop()}>
            Stop
          </Button>
        </p>
      </Match>
      <Match when={props.step === "done" && props.trial}>
        {(trial) => (
          <p class="main-ai-status good">
            <Icon name="check" />
            <span>{answered(trial())}</span>
          </p>
        )}
      </Match>
      <Match when={props.problem}>
        {(text) => (
          <p class="main-ai-status bad">
            <Icon name="warning" />
            <span>{text()}</span>
          </p>
        )}
      </Match>
    </Switch>
  );
}
