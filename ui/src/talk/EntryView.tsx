import { createMemo, Match, Show, Switch } from "solid-js";
import { sentence } from "../api/client";
import type { Attachment, NewAttachment } from "../api/types";
import { insist, later } from "../kit/later";
import { tell } from "../kit/toasts";
import { isExplained, waitsForLogin } from "../state/explained";
import type {
  ArtifactEntry,
  CallEntry,
  EndingEntry,
  Entry,
  ErrorEntry,
  MessageEntry,
  NoticeEntry,
} from "../state/model";
import { isShown } from "../state/notices";
import type { OpenSession } from "../state/openSession";
import { sentWith } from "../state/sentWith";
import { isEarlier, isLastEarlier, isRepetition, isStraight } from "../state/straight";
import { wholeText } from "../state/text";
import { AgentTurn } from "./AgentTurn";
import { ArtifactCard } from "./ArtifactCard";
import { useAgentNames } from "./agentNames";
import { startedWith } from "./groups";
import { MessageView } from "./MessageView";
import { NoticeView } from "./NoticeView";
import { AgentGroup, Ending, ToolCallBlock } from "./parts";
import { TurnFoot } from "./TurnFoot";
import { endsTurn } from "./turns";

/** It asks the server first, so nobody waits for it. */
const TurnFiles = later(async () => (await import("./TurnFiles")).TurnFiles);

interface EntryViewProps {
  open: OpenSession;
  entry: Entry;
  index: number;
  isRelay: boolean;
  /** The running turn is being stopped. */
  stopping: boolean;
  /** Puts a message that was sent into the composer, to be sent as a new one. */
  onEdit?: ((content: string, attachments: NewAttachment[]) => Promise<void>) | undefined;
}

/** One entry of the conversation with what belongs below it, or nothing where another one tells it. */
export function EntryView(props: EntryViewProps) {
  const state = props.open.state;
  const isEnd = createMemo(() => endsTurn(state.entries, props.index));
  const again = (turnId: string, content: string) =>
    void sendAgain(props.open, turnId, content).catch((error) => tell(sentence(error)));
  const mayRetry = () => state.runningTurn === null && props.index === state.entries.length - 1;
  return (
    <>
      <EntryBody {...props} />
      <Show when={isEnd() && props.entry.kind !== "ending"}>
        <Show when={props.index === state.entries.length - 1 && state.runningTurn === null}>
          <TurnFiles open={props.open} />
        </Show>
        <TurnFoot state={state} index={props.index} onAgain={mayRetry() ? again : null} />
      </Show>
    </>
  );
}

async function filesAgain(id: string, content: string, sent: Attachment[]): Promise<NewAttachment[]> {
  if (sent.length === 0) return [];
  const { fetchAgain } = await insist(() => import("../state/again"));
  return await fetchAgain(id, content, sent);
}

export async function sendAgain(open: OpenSession, turnId: string, content: string): Promise<void> {
  open.outbox.send(content, await filesAgain(open.id, content, sentWith(open.state, turnId)));
}

function EntryBody(props: EntryViewProps) {
  const state = props.open.state;
  const names = useAgentNames();
  const author = () => (isEarlier(props.entry) ? names.own() : "VoxPilot");
  const asks = createMemo(() => state.permissions.filter(({ tool_call_id }) => tool_call_id === props.entry.id), [], {
    equals: (before, now) => before.length === now.length && before.every((request, at) => request === now[at]),
  });
  const group = createMemo(() => startedWith(state.entries, props.index, state.calls));
  const edit = async (entry: MessageEntry) => {
    const content = wholeText(entry.text);
    await props.onEdit?.(content, await filesAgain(props.open.id, content, entry.attachments));
  };
  return (
    <Switch>
      <Match when={isRepetition(state.entries, props.index, state.calls)}>{null}</Match>
      <Match when={props.entry.kind === "message"}>
        <MessageView
          entry={props.entry as MessageEntry}
          sessionId={props.open.id}
          author={author()}
          onEdit={props.onEdit ? edit : undefined}
        />
        <Show when={isLastEarlier(state.entries, props.index)}>
          <p class="mark-line">Resumed from the agent’s own session</p>
        </Show>
      </Match>
      <Match when={group()}>
        {(ids) => (
          <Show when={ids().length > 0}>
            <AgentGroup open={props.open} ids={ids()} stopping={props.stopping} />
          </Show>
        )}
      </Match>
      <Match when={props.entry.kind === "call" && state.calls[props.entry.id]}>
        {(call) => (
          <Show
            when={isStraight(call())}
            fallback={
              <ToolCallBlock
                call={call()}
                artifact={state.artifacts[call().artifactId ?? ""]}
                asks={asks()}
                waitsForLogin={waitsForLogin(state, call())}
                isExplained={isExplained(state, call(), props.index)}
                stopping={props.stopping}
                onStop={() => props.open.cancel((props.entry as CallEntry).id)}
              />
            }
          >
            <AgentTurn
              call={call()}
              asks={asks()}
              waitsForLogin={waitsForLogin(state, call())}
              isExplained={isExplained(state, call(), props.index)}
              stopping={props.stopping}
              onStop={() => props.open.cancel((props.entry as CallEntry).id)}
            />
          </Show>
        )}
      </Match>
      <Match when={props.entry.kind === "artifact" && state.artifacts[(props.entry as ArtifactEntry).id]}>
        {(artifact) => <ArtifactCard artifact={artifact()} />}
      </Match>
      <Match when={props.entry.kind === "notice" && isShown(state, props.entry as NoticeEntry)}>
        <NoticeView notice={(props.entry as NoticeEntry).notice} />
      </Match>
      <Match when={props.entry.kind === "ending"}>
        <Ending
          open={props.open}
          ending={props.entry as EndingEntry}
          isRelay={props.isRelay}
          onAgain={(turnId, content) => sendAgain(props.open, turnId, content)}
        />
      </Match>
      <Match when={props.entry.kind === "error"}>
        <NoticeView notice={{ level: "error", title: "", text: (props.entry as ErrorEntry).message }} />
      </Match>
    </Switch>
  );
}
