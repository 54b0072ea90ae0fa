import { For, Show } from "solid-js";
import { CopyButton } from "../kit/CopyButton";
import { Banner } from "../kit/small";
import { Visible } from "../kit/Visible";
import type { OutboxItem } from "../state/outbox";
import { home_href } from "../state/route";
import { readStored } from "../state/storage";
import { draftName } from "./Composer";
import { Head } from "./SessionHeader";

/** What was written and went nowhere: it is not lost, and not sent anywhere else. */
function Unsent(props: { id: string; unsent: OutboxItem[] }) {
  const texts = () => [...props.unsent.map(({ content }) => content), readStored(draftName(props.id)) ?? ""];
  return (
    <For each={texts().filter((text) => text.trim() !== "")}>
      {(text) => (
        <div class="unsent">
          <p class="unsent-text" role="note" aria-label="Not sent">
            <Visible text={text} />
          </p>
          <CopyButton label="Copy unsent messages" text={() => text} />
        </div>
      )}
    </For>
  );
}

/** In place of the composer: it was deleted while it was open. */
export function GoneSession(props: { id: string; unsent: OutboxItem[] }) {
  return (
    <div class="dock">
      <div class="column">
        <Banner
          icon="trash"
          actions={
            <a class="button small" href={home_href}>
              New session
            </a>
          }
        >
          <span role="status">
            <b>This session was deleted.</b> You can’t send more messages here.
          </span>
        </Banner>
        <Unsent id={props.id} unsent={props.unsent} />
      </div>
    </div>
  );
}

interface NoPlaceProps {
  title: string;
  text: string;
  id?: string;
}

/** An address that leads nowhere says so; nothing else is opened in its place. */
export function NoPlace(props: NoPlaceProps) {
  return (
    <>
      <Head bare />
      <div class="no-place column">
        <h1>{props.title}</h1>
        <p>{props.text}</p>
        <Show when={props.id}>{(id) => <Unsent id={id()} unsent={[]} />}</Show>
        <a class="button main" href={home_href}>
          New session
        </a>
      </div>
    </>
  );
}

export function NoSession(props: { id: string }) {
  return <NoPlace title="Session not found" text="It may have been deleted, or be on another server." id={props.id} />;
}
