import { createEffect, createMemo, createSignal, on, onCleanup, Show } from "solid-js";
import type { Agent, NewAttachment } from "../api/types";
import { firstQuestion, waitingCount } from "../state/model";
import { loginAgent } from "../state/notices";
import { openSession } from "../state/openSession";
import type { ServerState } from "../state/server";
import type { Sessions } from "../state/sessions";
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
  agents: Agent[];
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
  const session = createMemo(() => {
    const listed = props.sessions.list.find((session) => session.id === props.id);
    return listed ? { ...listed, ...open.state.session } : undefined;
  });

  /** The one to log in, where that is needed. */
  const agent = createMemo(() => {
    const id = loginAgent(open.state) ?? session()?.agent;
    if (id === undefined) return undefined;
    return { id, title: props.agents.find((known) => known.id === id)?.title ?? id };
  });

  return (
    <main class="session">
      <SessionHeader
        session={session()}
        agents={props.agents}
        server={props.server}
        onMenu={() => props.onMenu()}
        onInspect={() => setInspecting(true)}
        onChange={(change) => props.sessions.change(props.id, change)}
      />
      <Show when={inspecting()}>
        <Inspector sessionId={props.id} onClose={() => setInspecting(false)} />
      </Show>
      <AgentSessions sessionId={props.id} news={open.state.agentNews + open.state.epoch} />
      <WorkDir.Provider value={() => session()?.work_dir}>
        <KnownAgents.Provider value={{ agents: () => props.agents, own: () => session()?.agent }}>
          <Log open={open} stopping={stopping()} isRelay={session()?.model === "relay"} />
        </KnownAgents.Provider>
      </WorkDir.Provider>
      <div class="dock">
        <ConnectionStatus broken={open.broken()} />
        <Approvals open={open} agent={agent()} />
        <Queue sessionId={props.id} items={open.state.queue} />
        <OutboxList outbox={open.outbox} onWithdrawn={giveBack} />
        <InlineError message={error()} />
        <Show when={composer()} keyed>
          {(_) => (
            <Composer
              draftKey={props.id}
              running={running()}
              stopping={stopping()}
              sessionId={props.id}
              isRelay={session()?.model === "relay"}
              onSend={(content, attachments) => open.outbox.send(content, attachments)}
              onStop={stop}
            />
          )}
        </Show>
      </div>
    </main>
  );
}
