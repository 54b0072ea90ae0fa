import { createEffect, createMemo, createResource, createSignal, on, onCleanup, Show } from "solid-js";
import { api } from "../api/client";
import type { NewAttachment, SessionChange } from "../api/types";
import { type Agents, can } from "../state/agents";
import { firstQuestion, waitingCount } from "../state/model";
import { loginAgent } from "../state/notices";
import { openSession } from "../state/openSession";
import type { ServerState } from "../state/server";
import type { Sessions } from "../state/sessions";
import { AgentChoice } from "./AgentChoice";
import { AgentSessions } from "./AgentSessions";
import { Approvals } from "./Approvals";
import { KnownAgents } from "./agentNames";
import { addToDraft, addToDraftFiles, Composer } from "./Composer";
import { ConnectionStatus } from "./ConnectionStatus";
import { InlineError } from "./InlineError";
import { Inspector } from "./Inspector";
import { focusComposer } from "./keyboard";
import { Log } from "./Log";
import { OutboxList } from "./OutboxList";
import { WorkDir } from "./paths";
import { Queue } from "./Queue";
import { SessionHeader } from "./SessionHeader";
import { createSubmit } from "./submit";

/** What the stream tells sooner than the list of sessions. */
export type LiveState = { running: boolean; waiting: number; queue_len: number; question: string | null };

interface SessionViewProps {
  id: string;
  sessions: Sessions;
  agents: Agents;
  server: ServerState;
  onMenu(): void;
  onLive(live: LiveState): void;
  onGone(): void;
}

export function SessionView(props: SessionViewProps) {
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
  createEffect(() => {
    if (open.gone()) props.onGone();
  });
  // The list names a session after its first message, and sorts by what happens.
  createEffect(
    on(
      () => [open.state.runningTurn, open.state.session.title],
      () => void props.sessions.refresh(),
      { defer: true },
    ),
  );

  const [inspecting, setInspecting] = createSignal(false);
  const { error, submit } = createSubmit();
  const running = () => open.state.runningTurn !== null;
  const [asked, setAsked] = createSignal(false);
  createEffect(() => {
    if (!running()) setAsked(false);
  });
  const stopping = () => asked() || open.state.cancelling;
  const stop = async () => {
    setAsked(true);
    if (!(await submit(() => open.cancel()))) setAsked(false);
  };
  /** A composer that is made anew takes its text from what is stored. */
  const [composer, setComposer] = createSignal(1);
  const giveBack = async (content: string, attachments: NewAttachment[]) => {
    addToDraft(props.id, content);
    await addToDraftFiles(props.id, attachments);
    setComposer(composer() + 1);
    focusComposer();
  };
  const listed = createMemo(() => props.sessions.list.find((session) => session.id === props.id));
  // An old one may be too far down for the list.
  const [unlisted] = createResource(
    () => props.sessions.loaded() && listed() === undefined,
    () => api.session(props.id).catch(() => undefined),
  );
  const session = createMemo(() => {
    const known = listed() ?? unlisted();
    return known ? { ...known, ...open.state.session } : undefined;
  });
  const isRelay = () => session()?.model === "relay";
  const isFresh = () =>
    open.state.ready &&
    open.state.entries.length === 0 &&
    open.state.queue.length === 0 &&
    open.outbox.items.length === 0;
  const own = createMemo(() => props.agents.list().find(({ id }) => id === session()?.agent));
  const change = (fields: SessionChange) => props.sessions.change(props.id, fields);

  /** The one to log in, where that is needed. */
  const agent = createMemo(() => {
    const id = loginAgent(open.state) ?? session()?.agent;
    if (id === undefined) return undefined;
    const known = props.agents.list().find((agent) => agent.id === id);
    return { id, title: known?.title ?? id, canLogin: known?.can_login !== false };
  });

  return (
    <main class="session">
      <SessionHeader
        session={session()}
        agents={props.agents.list()}
        isFresh={isFresh()}
        server={props.server}
        onMenu={() => props.onMenu()}
        onInspect={() => setInspecting(true)}
        onChange={change}
      />
      <Show when={inspecting()}>
        <Inspector sessionId={props.id} onClose={() => setInspecting(false)} />
      </Show>
      <KnownAgents.Provider
        value={{
          agents: props.agents.list,
          own: () => session()?.agent,
          refresh: () => void props.agents.refresh(),
        }}
      >
        <AgentSessions sessionId={props.id} news={open.state.agentNews + open.state.epoch} />
        <WorkDir.Provider value={() => session()?.work_dir}>
          <Log open={open} stopping={stopping()} isRelay={isRelay()} />
        </WorkDir.Provider>
        <div class="dock">
          <ConnectionStatus broken={open.broken()} />
          <Approvals open={open} agent={agent()} />
          <Queue sessionId={props.id} items={open.state.queue} />
          <OutboxList outbox={open.outbox} onWithdrawn={giveBack} />
          <InlineError message={error()} />
          <Show when={isFresh()}>
            <AgentChoice
              agents={props.agents.list()}
              chosen={session()?.agent}
              onChoose={(agent) => void submit(() => change({ agent }))}
            />
          </Show>
          <Show when={composer()} keyed>
            {(_) => (
              <Composer
                draftKey={props.id}
                running={running()}
                stopping={stopping()}
                sessionId={props.id}
                isRelay={isRelay()}
                imagesRefusedBy={isRelay() && can(own(), "images") === false ? own()?.title : undefined}
                onSend={(content, attachments) => open.outbox.send(content, attachments)}
                onStop={stop}
              />
            )}
          </Show>
        </div>
      </KnownAgents.Provider>
    </main>
  );
}
