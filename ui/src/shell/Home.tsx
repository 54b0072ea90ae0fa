import { createMemo, createResource, createSignal, For, type JSX, onMount, Show } from "solid-js";
import { api } from "../api/client";
import type { NewAttachment, Policy, Row, SessionDraft } from "../api/types";
import { Icon, type IconName } from "../kit/Icon";
import { later } from "../kit/later";
import { Dot, PlusMinus } from "../kit/small";
import { Visible } from "../kit/Visible";
import type { FirstTask } from "../pages/FirstRun";
import { isReady, titleOf } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { setFailedStart } from "../state/failedStart";
import { beginSession } from "../state/fresh";
import { goTo, pageHref, sessionHref } from "../state/route";
import { type Group, statusOf } from "../state/rows";
import { defaultPolicyOf } from "../state/server";
import { readStored, store } from "../state/storage";
import { Banners } from "./Banners";
import { choices_name, draftName } from "./Composer";
import { Dock } from "./Dock";
import { FailedStart } from "./FailedStart";
import { focusComposer, focusComposerOnDesk, isPhone } from "./keyboard";
import { PolicyChoice } from "./PolicyChoice";
import { createNow } from "./SessionList";
import { RowEnd } from "./SessionRow";
import type { Shell } from "./shell";
import { suggestionsFor, suggestionsForDemo } from "./suggestions";

const FirstRun = later(async () => (await import("../pages/FirstRun")).FirstRun);

const most_shown = 4;

function readChoices(): SessionDraft {
  try {
    return JSON.parse(readStored(choices_name) ?? "{}");
  } catch {
    return {};
  }
}

/** The page before there is a session: its first message makes one. */
export function Home(props: { shell: Shell; rows: Row[]; groups: Group[] }) {
  const { agents, server, project } = props.shell;
  const now = createNow();
  const [attempt, setAttempt] = createSignal(1);
  const [chosen, setChosen] = createSignal<SessionDraft>(readChoices());
  const choose = (fields: SessionDraft) => {
    setChosen((before) => ({ ...before, ...fields }));
    store(choices_name, JSON.stringify(chosen()));
  };
  const agent = () => chosen().agent ?? agents.preferred();
  const model = () => chosen().model ?? server.info()?.model;
  const isRelay = () => model() === "relay";
  onMount(focusComposerOnDesk);
  const known = createMemo(() => agents.list().find(({ id }) => id === agent()));
  const isFirst = () => props.shell.sessions.loaded() && props.rows.length === 0 && !watchesOnly();
  const [devices, { refetch: refetchDevices }] = createResource(isFirst, () =>
    api.devices().then(
      (found) => found.devices.length,
      () => undefined,
    ),
  );

  /** The composer takes its text from what is stored when it is made anew. */
  const suggest = (content: string) => {
    store(draftName("new"), content);
    setAttempt(attempt() + 1);
    focusComposer();
  };
  const start = (content: string, attachments: NewAttachment[], draft = chosen()) => {
    setFailedStart(null);
    const id = beginSession(draft, content, attachments);
    setChosen({});
    store(choices_name, "");
    goTo(id);
  };
  const busy = createMemo(() => {
    const ids = props.groups.filter(({ name }) => name === "Needs you" || name === "Running").flatMap(({ ids }) => ids);
    return ids.flatMap((id) => props.rows.find((row) => row.id === id) ?? []).slice(0, most_shown);
  });
  const starts = createMemo(() => suggestionsFor(known(), server.info(), isRelay(), project.changes()));
  /** A first task that works with what is here: where nothing else does, the demo agent does it. */
  const first = (): FirstTask | undefined => {
    const demo = agents.list().find(({ id }) => id === "demo");
    const [task] = starts();
    if (!isRelay() || isReady(known()) || demo === undefined) {
      return task && { text: task.text, start: () => start(task.text, []) };
    }
    const [{ text }] = suggestionsForDemo;
    return { text, with: demo.title, start: () => start(text, [], { ...chosen(), agent: demo.id, model: "relay" }) };
  };
  const others = createMemo(() => agents.list().filter(({ id, installed }) => installed && id !== "demo"));

  return (
    <div class="home">
      <Dock
        draftKey="new"
        attempt={attempt()}
        isRelay={isRelay()}
        running={false}
        stopping={false}
        placeholder={isPhone() ? "New task" : "Describe a task, or ask about the code"}
        choices={{
          agents: agents.list(),
          agent: agent(),
          model: model(),
          policy: (chosen().permission_policy ?? null) as Policy | null,
          defaultPolicy: defaultPolicyOf(isRelay(), server.info()),
          branch: project.branch(),
          setAgent: (agent) => choose({ agent }),
          setModel: (model) => choose({ model }),
          setPolicy: (permission_policy) => choose({ permission_policy }),
        }}
        onSend={start}
        onStop={() => {}}
      >
        <h1>
          What should change in <Visible text={project.name()} />?
        </h1>
        <PolicyChoice server={server} />
        <FailedStart
          onModel={(model) => {
            choose({ model });
            server.refresh();
          }}
        />
        <Banners server={server} broken={null} />
      </Dock>
      <div class="shelf column">
        <Show when={isFirst()}>
          <FirstRun
            agent={known()}
            model={model()}
            devices={devices.latest}
            task={first()}
            onAdded={() => void refetchDevices()}
          />
        </Show>
        <Show when={busy().length > 0}>
          <section aria-labelledby="shelf-busy">
            <h2 id="shelf-busy">Waiting and running</h2>
            <ul>
              <For each={busy()}>
                {(row) => (
                  <li>
                    <a class="session-link" href={sessionHref(row.id)}>
                      <Dot status={statusOf(row)} />
                      <span class="cut">
                        <Visible text={row.title || "Untitled"} />
                      </span>
                      <RowEnd session={row} now={now()} question />
                    </a>
                  </li>
                )}
              </For>
            </ul>
          </section>
        </Show>
        <section aria-labelledby="shelf-start">
          <h2 id="shelf-start">Start from here</h2>
          <ul>
            {/* Of several the first is the first task already. */}
            <For each={isFirst() && starts().length > 1 ? starts().slice(1) : starts()}>
              {({ text, icon, changes }) => (
                <li>
                  <Start
                    icon={icon}
                    onChoose={() => suggest(text)}
                    end={
                      <Show when={changes}>
                        {(all) => <PlusMinus additions={all().additions} deletions={all().deletions} />}
                      </Show>
                    }
                  >
                    <Visible text={text} />
                  </Start>
                </li>
              )}
            </For>
            <Show when={others().length > 0 || props.rows.length > 0}>
              <li>
                <a class="session-link" href={pageHref("conversations")}>
                  <Icon name="history" />
                  <span class="cut">
                    Resume a session
                    <Show when={others().length > 0}>
                      {" from "}
                      <Visible
                        text={others()
                          .slice(0, 2)
                          .map(({ id }) => titleOf(agents.list(), id))
                          .join(" or ")}
                      />
                    </Show>
                  </span>
                </a>
              </li>
            </Show>
          </ul>
        </section>
      </div>
    </div>
  );
}

function Start(props: { icon: IconName; end: JSX.Element; onChoose(): void; children: JSX.Element }) {
  return (
    <button
      type="button"
      class="session-link"
      disabled={watchesOnly()}
      title={watchesOnly() ? watch_only : undefined}
      onClick={() => props.onChoose()}
    >
      <Icon name={props.icon} />
      <span class="cut">{props.children}</span>
      <span class="session-end">{props.end}</span>
    </button>
  );
}
