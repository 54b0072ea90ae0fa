import { createEffect, createMemo, createResource, createSignal, on, onCleanup, Show } from "solid-js";
import { api } from "../api/client";
import type { NewAttachment, Row, SessionChange, TraceFilter } from "../api/types";
import { changeNews, createSummary } from "../changes/summary";
import { InlineError } from "../kit/InlineError";
import { insist, later } from "../kit/later";
import { createSubmit } from "../kit/submit";
import { createAgentOptions } from "../state/agentOptions";
import { watchesOnly } from "../state/device";
import { firstQuestion, waitingCount } from "../state/model";
import { loginAgent } from "../state/notices";
import { setOpened } from "../state/opened";
import { openSession } from "../state/openSession";
import { defaultPolicyOf } from "../state/server";
import { readStored } from "../state/storage";
import { Approvals, Questions } from "../talk/Approvals";
import { KnownAgents } from "../talk/agentNames";
import { sendAgain } from "../talk/EntryView";
import { Log } from "../talk/Log";
import { NextStepsContext } from "../talk/nextSteps";
import { WorkDir } from "../talk/paths";
import { Banners } from "./Banners";
import { addToDraft, addToDraftFiles } from "./Composer";
import { Dock } from "./Dock";
import { focusComposer, focusComposerOnDesk } from "./keyboard";
import { OutboxList } from "./outboxPart";
import { SessionHeader } from "./SessionHeader";
import type { Shell } from "./shell";

const Inspector = later(async () => (await import("../pages/Inspector")).Inspector);
const GoneSession = later(async () => (await import("./GoneSession")).GoneSession);
const NoSession = later(async () => (await import("./GoneSession")).NoSession);
const Queue = later(async () => (await import("./Queue")).Queue);
const ResendBar = later(async () => (await import("./ResendBar")).ResendBar);
const RulesDialog = later(async () => (await import("../pages/RulesDialog")).RulesDialog);

/** What the stream tells sooner than the list of sessions. */
export type LiveState = { running: boolean; waiting: number; queue_len: number; question: string | null };

const resendName = (id: string) => `resend.${id}`;

interface SessionViewProps {
  id: string;
  shell: Shell;
  isPanelOpen: boolean;
  onLive(live: LiveState): void;
  onStopper(stop: () => void): void;
  onConnected(isConnected: boolean): void;
  onChanges(): void;
  onFresh(): void;
}

export function SessionView(props: SessionViewProps) {
  const { sessions, agents, server, project } = props.shell;
  const open = openSession(props.id);
  onCleanup(() => open.close());
  createEffect(() => {
    if (!open.state.ready) return;
    const { runningTurn, queue } = open.state;
    props.onLive({
      running: runningTurn !== null,
      waiting: waitingCount(open.state),
      queue_len: queue.length,
      question: firstQuestion(open.state),
    });
  });
  createEffect(() => props.onConnected(open.broken() === null || open.gone()));
  createEffect(() => open.gone() && void sessions.refresh());
  // The list names a session after its first message, and sorts by what happens.
  createEffect(
    on(
      () => [open.state.runningTurn, open.state.session.title],
      () => {
        void sessions.refresh();
        project.refresh();
      },
      { defer: true },
    ),
  );
  queueMicrotask(focusComposerOnDesk);

  const [dialog, setDialog] = createSignal<"traffic" | "rules" | null>(null);
  /** What is pointed out in it: lines of the traffic, or a rule. */
  const [wanted, setWanted] = createSignal<TraceFilter>({});
  const [rule, setRule] = createSignal("");
  const showTraffic = (lines: TraceFilter = {}) => {
    setWanted(lines);
    setDialog("traffic");
  };
  const showRules = (id = "") => {
    setRule(id);
    setDialog("rules");
  };
  const [renaming, setRenaming] = createSignal(false);
  const [editing, setEditing] = createSignal<string | null>(null);
  const { error, submit } = createSubmit();
  const running = () => open.state.runningTurn !== null;
  const [asked, setAsked] = createSignal(false);
  createEffect(() => {
    if (!running()) setAsked(false);
  });
  // What only a running turn brings is here before it is needed.
  createEffect(() => {
    if (!running()) return;
    void Questions.preload();
    void Queue.preload();
  });
  const wereQueued = createMemo<boolean>((before) => before || open.state.queue.length > 0, false);
  const stopping = () => asked() || open.state.cancelling;
  const stop = async () => {
    if (!running() || stopping() || watchesOnly()) return;
    setAsked(true);
    if (!(await submit(() => open.cancel()))) setAsked(false);
  };
  props.onStopper(() => void stop());
  onCleanup(() => props.onStopper(() => {}));
  const [attempt, setAttempt] = createSignal(1);
  const giveBack = async (content: string, attachments: NewAttachment[]) => {
    addToDraft(props.id, content);
    await addToDraftFiles(props.id, attachments);
    setAttempt(attempt() + 1);
    focusComposer();
  };
  const [isResending, setResending] = createSignal(readStored(resendName(props.id)) !== null);
  const edit = async (content: string, attachments: NewAttachment[]) => {
    const { beginResend } = await insist(() => import("./resend"));
    await beginResend(props.id, content, attachments);
    setResending(true);
    setAttempt(attempt() + 1);
    focusComposer();
  };
  /** `sent`: the composer is empty already. */
  const endEdit = async (sent: boolean) => {
    setResending(false);
    const { endResend } = await insist(() => import("./resend"));
    if (!(await endResend(props.id)) && sent) return;
    setAttempt(attempt() + 1);
    focusComposer();
  };
  const listed = createMemo(() => sessions.list.find((session) => session.id === props.id));
  // An old one may be too far down for the list.
  const [unlisted, { mutate }] = createResource(
    () => sessions.loaded() && listed() === undefined,
    () => api.session(props.id).catch(() => undefined),
  );
  // One that was deleted is still called what it was called.
  const session = createMemo<Row | undefined>((before) => {
    const known = listed() ?? unlisted();
    return known ? { ...known, ...open.state.session } : before;
  });
  const change = (fields: SessionChange) =>
    submit(async () => {
      await sessions.change(props.id, fields);
      if (!listed()) mutate(await api.session(props.id));
    });
  // Whoever looks at it has seen how it ended.
  createEffect(() => {
    if (session()?.unseen && document.visibilityState === "visible" && !watchesOnly())
      sessions.change(props.id, { seen: true }).catch(() => {});
  });
  setOpened({
    session,
    rename: () => setRenaming(true),
    changes: () => props.onChanges(),
    rules: () => showRules(),
    traffic: () => showTraffic(),
  });
  onCleanup(() => setOpened(null));
  const summary = createSummary(
    () => props.id,
    () => changeNews(open.state),
  );
  const branch = () => summary()?.branch ?? project.branch();
  const isRelay = () => session()?.model === "relay";
  const options = createAgentOptions(props.id, () => open.state.agentNews + open.state.epoch);

  /** The one to log in, where that is needed. */
  const agent = createMemo(() => {
    const id = loginAgent(open.state) ?? session()?.agent;
    if (id === undefined) return undefined;
    const known = agents.list().find((agent) => agent.id === id);
    return { id, title: known?.title ?? id, canLogin: known?.can_login !== false };
  });

  return (
    <Show when={!(open.gone() && !open.state.ready)} fallback={<NoSession id={props.id} />}>
      <SessionHeader
        session={session()}
        project={project.name()}
        branch={branch()}
        changes={summary() ?? session()?.changes ?? null}
        isPanelOpen={props.isPanelOpen}
        actions={props.shell.actions}
        renaming={renaming()}
        onRenaming={setRenaming}
        onRename={(title) => void change({ title })}
        onFresh={props.onFresh}
        onChanges={props.onChanges}
        onRules={() => showRules()}
        onTraffic={() => showTraffic()}
      />
      <Show when={dialog() === "traffic"}>
        <Inspector sessionId={props.id} wanted={wanted()} onClose={() => setDialog(null)} />
      </Show>
      <Show when={dialog() === "rules"}>
        <RulesDialog sessionId={props.id} rule={rule()} onClose={() => setDialog(null)} />
      </Show>
      <KnownAgents.Provider
        value={{
          agents: agents.list,
          own: () => session()?.agent,
          refresh: () => void agents.refresh(),
        }}
      >
        <NextStepsContext.Provider
          value={{
            open,
            isRelay,
            agents: agents.list,
            own: () => session()?.agent,
            change,
            showTraffic,
            showRules,
            sayAgain: (turnId, content) => sendAgain(open, turnId, content),
          }}
        >
          <WorkDir.Provider value={() => session()?.work_dir}>
            <Log open={open} stopping={stopping()} isRelay={isRelay()} onEdit={edit} />
          </WorkDir.Provider>
        </NextStepsContext.Provider>
        <Show when={!open.gone()} fallback={<GoneSession id={props.id} unsent={open.outbox.items} />}>
          <Dock
            draftKey={props.id}
            attempt={attempt()}
            sessionId={props.id}
            isRelay={isRelay()}
            running={running()}
            stopping={stopping()}
            placeholder={running() ? "Add to the queue" : open.state.entries.length > 0 ? "Reply" : "Describe a task"}
            choices={{
              agents: agents.list(),
              agent: session()?.agent,
              model: session()?.model,
              policy: session()?.permission_policy ?? null,
              defaultPolicy: defaultPolicyOf(isRelay(), server.info()),
              branch: branch(),
              rules: session()?.rules ?? 0,
              sessionId: props.id,
              options,
              setAgent: (agent) => void change({ agent }),
              setModel: (model) => void change({ model }),
              setPolicy: (permission_policy) => void change({ permission_policy }),
              setOption: (name, option, value) => void submit(() => options.set(name, option, value)),
              onChanges: props.onChanges,
              onRules: () => showRules(),
            }}
            onSend={(content, attachments) => {
              open.outbox.send(content, attachments);
              if (isResending()) void endEdit(true);
            }}
            onStop={() => void stop()}
            onUp={() => setEditing(open.state.queue.at(-1)?.message_id ?? null)}
          >
            <Banners server={server} broken={open.broken()} />
            <Approvals open={open} agent={agent()} onRules={() => showRules()} />
            <InlineError message={error()} />
            <Show when={isResending()}>
              <ResendBar onCancel={() => void endEdit(false)} />
            </Show>
            <Show when={open.outbox.items.length > 0}>
              <OutboxList outbox={open.outbox} onWithdrawn={giveBack} />
            </Show>
            <Show when={wereQueued()}>
              <Queue
                sessionId={props.id}
                items={open.state.queue}
                held={open.state.held}
                running={running()}
                editing={editing()}
                onEdited={() => {
                  setEditing(null);
                  focusComposer();
                }}
              />
            </Show>
          </Dock>
        </Show>
      </KnownAgents.Provider>
    </Show>
  );
}
