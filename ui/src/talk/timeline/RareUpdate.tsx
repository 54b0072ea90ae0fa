import { Match, Switch } from "solid-js";
import type { Update } from "../../api/types";
import { Visible } from "../../kit/Visible";
import { Fold } from "../Fold";
import { Fields } from "../laterFields";
import { MarkdownText } from "../markdown/Markdown";
import { RuleRow } from "../RuleRow";
import { Event } from "./Timeline";

type Of<Kind extends Update["type"]> = Extract<Update, { type: Kind }>;

/** What few agents tell of. */
export function RareUpdate(props: { update: Update; key: string }) {
  const is = <Kind extends Update["type"]>(kind: Kind) =>
    (props.update.type === kind ? props.update : undefined) as Of<Kind> | undefined;
  return (
    <Switch>
      <Match when={is("compaction")}>
        {(compaction) => (
          <Event icon="archive">
            <Fold key={props.key} head={<Visible text={compactionWords(compaction())} />}>
              <div class="fold-text">
                <MarkdownText text={compaction().summary || "No summary was given."} />
              </div>
            </Fold>
          </Event>
        )}
      </Match>
      <Match when={is("rule")}>
        {(saved) => (
          <Event icon="shield">
            <RuleRow saved={saved()} />
          </Event>
        )}
      </Match>
      <Match when={is("user_message")}>
        {(message) => (
          <Event icon="send">
            <blockquote class="flow-quote">
              <MarkdownText text={message().text} />
            </blockquote>
          </Event>
        )}
      </Match>
      <Match when={is("content")}>
        {(part) => <Other key={props.key} label="Attachment" value={part().content} />}
      </Match>
      <Match when={is("unknown")}>
        {(other) => <Other key={props.key} label={other().kind} value={other().raw} />}
      </Match>
    </Switch>
  );
}

function Other(props: { key: string; label: string; value: unknown }) {
  return (
    <Event icon="other">
      <Fold key={props.key} head={<Visible text={props.label} />}>
        <Fields value={props.value} />
      </Fold>
    </Event>
  );
}

function compactionWords(of: Of<"compaction">): string {
  if (of.status === "completed") return "The conversation was compacted";
  if (of.status === "failed") return `Compaction failed: ${of.error ?? "no reason given"}`;
  if (of.status === "cancelled") return "Compaction was stopped";
  return "Compacting the conversation…";
}
