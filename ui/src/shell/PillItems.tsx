// The lists behind the pills, loaded when one is opened.

import { createEffect, createResource, createSignal, For, Show } from "solid-js";
import { Dynamic } from "solid-js/web";
import { sentence } from "../api/client";
import { list } from "../api/list";
import { readSummary } from "../api/summary";
import type { Model, Policy } from "../api/types";
import { filesWords } from "../changes/count";
import { noteChanged } from "../changes/summary";
import { copyText } from "../kit/copy";
import { insist } from "../kit/later";
import { MenuItem } from "../kit/MenuList";
import { AgentMark, Dot } from "../kit/small";
import { tell } from "../kit/toasts";
import { Visible } from "../kit/Visible";
import { choicesOf, currentOf, isWanted, optionsOf } from "../state/agentOptions";
import { standing, unusable } from "../state/agents";
import { activeId, go, pageHref, reviewHref } from "../state/route";
import { visible } from "../state/visible";
import { type SavedRule, savedRules } from "../talk/savedRules";
import { isWriting } from "./keyboard";
import { type Choices, modelTitle, policyText } from "./Pills";

const relay = "relay";
const policies: { id: Policy; title?: string; note: string }[] = [
  { id: "ask", note: "Asks before commands and changes" },
  { id: "auto", note: "Runs without asking. Questions about protected files still wait for you." },
  {
    id: "auto-all",
    title: "Auto, including protected files",
    note: "Runs without asking, also on .env, .git and the settings of editors and agents.",
  },
  { id: "read-only", note: "Reads without asking, and asks about the rest" },
  { id: "deny", note: "Denies commands and changes" },
];

export type Kind = "agent" | "model" | "mode" | "policy" | "branch";
type Items = Choices & { close(): void };

/** The lists of one pill, one below the other. */
export function PillItems(props: { kinds: Kind[]; choices: Choices; close(): void }) {
  const lists = { agent: AgentItems, model: ModelItems, mode: OptionItems, policy: PolicyItems, branch: BranchItems };
  return (
    <For each={props.kinds}>
      {(kind, index) => (
        <>
          <Show when={index() > 0}>
            <hr />
          </Show>
          <Dynamic component={lists[kind]} {...props.choices} close={() => props.close()} />
        </>
      )}
    </For>
  );
}

const toneStatus = { good: "done", waiting: "waiting", bad: "failed", busy: "running", none: "unknown" } as const;

/** Those that are installed; how to get the others is on their own page. */
function AgentItems(props: Items) {
  const shown = () => props.agents.filter((agent) => agent.installed || agent.id === props.agent);
  const sorted = () => shown().toSorted((a, b) => Number(unusable(a) !== null) - Number(unusable(b) !== null));
  return (
    <>
      <For each={sorted()}>
        {(agent) => (
          <MenuItem
            class="agent-item"
            chosen={agent.id === props.agent}
            disabled={unusable(agent) !== null && agent.id !== props.agent}
            onChoose={() => {
              props.close();
              props.setAgent(agent.id);
            }}
            end={
              <span class="agent-standing">
                <Dot status={toneStatus[standing(agent).tone]} quiet /> {standing(agent).words}
              </span>
            }
          >
            <span class="agent-words">
              <AgentMark agent={agent.id} />
              <span>{visible(agent.title)}</span>
              <Show when={agent.about}>
                <small>{visible(agent.about)}</small>
              </Show>
            </span>
          </MenuItem>
        )}
      </For>
      <hr />
      <MenuItem
        icon="plus"
        onChoose={() => {
          props.close();
          go(pageHref("agents"));
        }}
      >
        Add an agent
      </MenuItem>
    </>
  );
}

/** As far as is known: the server refuses a model without one in any case. */
const [hasProvider, setHasProvider] = createSignal(true);

type ModelPick = Pick<Items, "model" | "setModel" | "close">;

function chooseModel(props: ModelPick, id: string): void {
  if (id !== "" && id !== relay && !hasProvider()) return void addMainAi(props, id);
  props.close();
  if (id !== "" && id !== props.model) props.setModel(id);
}

/** A model is asked for at a provider; what is written stays where it is. */
async function addMainAi(props: ModelPick, model?: string): Promise<void> {
  const { close, setModel } = props;
  close();
  const { openMainAi } = await insist(() => import("../pages/settings/openMainAi"));
  openMainAi({
    model,
    isWriting: isWriting(),
    onAdded: (added) => {
      setHasProvider(true);
      setModel(added);
    },
  });
}

/** A model that is on no list. */
export function ModelField(props: { choices: Choices; close(): void }) {
  return (
    <form
      class="menu-form"
      onSubmit={(event) => {
        event.preventDefault();
        chooseModel(
          { ...props.choices, close: props.close },
          new FormData(event.currentTarget).get("model")?.toString().trim() ?? "",
        );
      }}
    >
      <input
        class="field"
        name="model"
        aria-label="Another model"
        placeholder="Another model, by name"
        autocomplete="off"
        spellcheck={false}
        onKeyDown={(event) => {
          // The list's keys are not those of a text.
          if (event.key !== "Escape" && event.key !== "Tab" && !event.key.startsWith("Arrow")) event.stopPropagation();
        }}
      />
    </form>
  );
}

function ModelItems(props: Items) {
  const [models, setModels] = createSignal<Model[]>([
    ...(props.model ? [{ id: props.model, title: modelTitle(props.model) }] : []),
    ...(props.model === relay ? [] : [{ id: relay, title: "No main AI: talk directly to the agent" }]),
  ]);
  const [error, setError] = createSignal<string | null>(null);
  list.models().then(
    (found) => {
      setModels(found.models);
      setHasProvider(found.has_provider);
      setError(found.error ?? null);
    },
    () => setError("The models could not be loaded."),
  );
  return (
    <>
      <p class="menu-heading">Main AI</p>
      <For each={models()}>
        {(model) => (
          <MenuItem
            chosen={model.id === props.model}
            note={model.note ? visible(model.note) : undefined}
            onChoose={() => chooseModel(props, model.id)}
          >
            {visible(model.title)}
          </MenuItem>
        )}
      </For>
      <Show when={!hasProvider()}>
        <MenuItem icon="plus" onChoose={() => void addMainAi(props)}>
          Add a main AI…
        </MenuItem>
      </Show>
      <Show when={error()}>{(text) => <p class="menu-heading">{visible(text())}</p>}</Show>
    </>
  );
}

/** Everything that the agent's own sessions let one set; the mode is among it. */
function OptionItems(props: Items) {
  const set = (name: string, option: string, value: string | boolean) => {
    props.close();
    props.setOption?.(name, option, value);
  };
  return (
    <For each={props.options?.sessions.filter((agent) => optionsOf(agent).length > 0)}>
      {(agent) => (
        <For each={optionsOf(agent)}>
          {(option) => (
            <>
              <p class="menu-heading">
                {visible(option.name ?? option.id)}
                {(props.options?.sessions.length ?? 0) > 1 ? ` of [${visible(agent.name)}]` : ""}
                {isWanted(agent, option) ? ", with the next prompt" : ""}
              </p>
              <Show
                when={option.type !== "boolean"}
                fallback={
                  <MenuItem
                    chosen={currentOf(agent, option) === true}
                    onChoose={() => set(agent.name, option.id, currentOf(agent, option) !== true)}
                  >
                    {currentOf(agent, option) === true ? "On" : "Off"}
                  </MenuItem>
                }
              >
                <For each={choicesOf(option.options)}>
                  {(choice) => (
                    <MenuItem
                      chosen={choice.value === currentOf(agent, option)}
                      note={choice.description ? visible(choice.description) : undefined}
                      onChoose={() => set(agent.name, option.id, choice.value ?? "")}
                    >
                      {visible(choice.name ?? choice.value ?? "")}
                    </MenuItem>
                  )}
                </For>
              </Show>
            </>
          )}
        </For>
      )}
    </For>
  );
}

function PolicyItems(props: Items) {
  const choose = (policy: Policy | null) => {
    props.close();
    if (policy !== props.policy) props.setPolicy(policy);
  };
  return (
    <>
      <MenuItem chosen={props.policy === null} onChoose={() => choose(null)}>
        Server default ({policyText(props.defaultPolicy)})
      </MenuItem>
      <hr />
      <For each={policies}>
        {({ id, title, note }) => (
          <MenuItem chosen={props.policy === id} note={note} onChoose={() => choose(id)}>
            {title ?? policyText(id)}
          </MenuItem>
        )}
      </For>
      <Show when={props.sessionId}>{(id) => <RuleItems {...props} sessionId={id()} />}</Show>
    </>
  );
}

/** What is remembered, each to be taken back. */
function RuleItems(props: Items & { sessionId: string }) {
  const rules = savedRules(props.sessionId, () => props.rules ?? 0);
  const list = () => rules.list() ?? [];
  const remove = (id: string) => {
    props.close();
    rules.remove(id).then(
      () => tell("Rule removed"),
      (reason) => tell(sentence(reason)),
    );
  };
  return (
    <>
      <Show when={list().length > 0}>
        <hr />
        <p class="menu-heading">{list().length === 1 ? "1 rule applies" : `${list().length} rules apply`}</p>
        <For each={list().slice(0, shown_rules)}>
          {(rule) => (
            <MenuItem icon="shield" end="Remove" onChoose={() => remove(rule.id)}>
              <span class="cut rule-item">
                <Visible text={ruleLine(rule)} />
              </span>
            </MenuItem>
          )}
        </For>
      </Show>
      <Show when={props.onRules}>
        {(open) => (
          <>
            <hr />
            <MenuItem
              onChoose={() => {
                props.close();
                open()();
              }}
            >
              Saved permissions…
            </MenuItem>
          </>
        )}
      </Show>
    </>
  );
}

const shown_rules = 4;

function ruleLine({ allow, subject, text }: SavedRule): string {
  return subject.type === "command" ? `${allow ? "Allow" : "Deny"} ${subject.command}` : text;
}

function BranchItems(props: Items) {
  const id = activeId();
  /** As it is now: somebody may have switched it in a terminal. */
  const [now] = createResource(() => (id === null ? home() : inSession(id)).catch(() => undefined));
  const branch = () => now.latest?.branch ?? props.branch ?? "";
  createEffect(() => {
    if (now.latest && now.latest.branch !== props.branch) noteChanged();
  });
  const copy = () =>
    copyText(branch()).then(
      () => tell("Copied"),
      () => tell("Copying was blocked by the browser."),
    );
  const leave = (open: () => void) => () => {
    props.close();
    open();
  };
  return (
    <>
      <p class="menu-heading">
        On branch {visible(branch())}
        <Show when={id === null && now.latest}>{(known) => <> · {uncommittedWords(known())}</>}</Show>
      </p>
      <Show when={id}>
        {(session) => (
          <>
            <MenuItem
              icon="commit"
              note={now.latest ? uncommittedWords(now.latest) : "Looking…"}
              onChoose={leave(() => go(reviewHref(session(), "head")))}
            >
              Review and commit
            </MenuItem>
            <Show when={now.latest?.base}>
              {(base) => (
                <MenuItem icon="changes" onChoose={leave(() => go(reviewHref(session(), "base")))}>
                  Compare with {visible(base())}
                </MenuItem>
              )}
            </Show>
          </>
        )}
      </Show>
      <Show when={props.onChanges}>
        {(open) => (
          <MenuItem icon="changes" onChoose={leave(open())}>
            Open changes
          </MenuItem>
        )}
      </Show>
      <MenuItem icon="copy" onChoose={leave(() => void copy())}>
        Copy branch name
      </MenuItem>
      <p class="menu-heading">To switch branches, ask the agent or use git.</p>
    </>
  );
}

/** What is not committed in the work directory, of the session and beside it. */
interface BranchNow {
  branch: string | null;
  base: string | null;
  files: number;
  meanwhile: number;
}

async function inSession(id: string): Promise<BranchNow> {
  const { branch, base, total_files: files, meanwhile } = await readSummary(id, "head");
  return { branch: branch ?? null, base: base ?? null, files, meanwhile: meanwhile.length };
}

async function home(): Promise<BranchNow> {
  const { branch, changes } = await list.project();
  return { branch: branch ?? null, base: null, files: changes?.files ?? 0, meanwhile: 0 };
}

export function uncommittedWords({ files, meanwhile }: Pick<BranchNow, "files" | "meanwhile">): string {
  if (files + meanwhile === 0) return "Nothing to commit";
  if (files === 0) return `${filesWords(meanwhile)} not by this session`;
  const others = meanwhile === 0 ? "" : `, ${meanwhile} not by this session`;
  return `${filesWords(files)} not committed${others}`;
}
