import { createEffect, createMemo, createSignal, Match, on, onCleanup, onMount, Show, Switch } from "solid-js";
import type { SessionDraft } from "../api/types";
import { createAgents } from "../state/agents";
import { createAttention } from "../state/notify";
import { activeId, activePage, goTo, type Page } from "../state/route";
import { createServerState } from "../state/server";
import { createSessions } from "../state/sessions";
import { createTrust } from "../state/trust";
import { visible } from "../state/visible";
import { AgentsPage } from "./AgentsPage";
import { Banners } from "./Banners";
import { ConversationsPage } from "./ConversationsPage";
import { DevicesDialog } from "./DevicesDialog";
import { focusComposer, watchShortcuts } from "./keyboard";
import { type LiveState, SessionView } from "./SessionView";
import { Sidebar } from "./Sidebar";
import { Welcome } from "./Welcome";

/** What the window is called while they are open. */
const page_titles: Record<Page, string> = { agents: "Agents", conversations: "All conversations" };

const narrow = window.matchMedia?.("(max-width: 767px)");

/** The page of somebody who is let in. */
export function Cockpit(props: { onLeave(): void }) {
  const sessions = createSessions();
  const agents = createAgents(sessions.loaded);
  const [drawerOpen, setDrawerOpen] = createSignal(false);
  const [showDevices, setShowDevices] = createSignal(false);
  const [live, setLive] = createSignal<LiveState | null>(null);
  const server = createServerState();
  const trust = createTrust(() => {
    server.refresh();
    void agents.refresh();
    void sessions.refresh();
  });
  onCleanup(() => sessions.close());
  onMount(() => onCleanup(watchShortcuts()));

  const active = createMemo(() => sessions.list.find((session) => session.id === activeId()));
  const waiting = createMemo(() => {
    const elsewhere = sessions.list.filter((session) => session.id !== activeId() && session.waiting > 0);
    return (live()?.waiting ?? 0) + elsewhere.length;
  });
  createAttention({
    waiting,
    title: () => {
      const page = activePage();
      const title = page ? page_titles[page] : visible(active()?.title ?? "");
      return title ? `${title} · VoxPilot` : "VoxPilot";
    },
    text: () => live()?.question ?? "Something waits for your answer.",
  });
  // On a desk the last session is what one comes back for; the address may name another one.
  createEffect(() => {
    const latest = sessions.list[0];
    if (sessions.loaded() && activeId() === null && activePage() === null && latest) goTo(latest.id);
  });
  createEffect(on(activeId, () => setLive(null)));

  const show = (id: string) => {
    goTo(id);
    setDrawerOpen(false);
    requestAnimationFrame(() => focusComposer());
  };
  const start = async (draft: SessionDraft = {}) => {
    const session = await sessions.create(draft);
    show(session.id);
  };
  const leave = (id: string) => {
    if (activeId() === id) goTo(sessions.list.find((session) => session.id !== id)?.id ?? null);
  };

  return (
    <div class="app">
      <Banners trust={trust} server={server} />
      <Sidebar
        sessions={sessions}
        live={live()}
        open={drawerOpen()}
        onClose={() => setDrawerOpen(false)}
        onStart={() => start()}
        onDevices={() => {
          setDrawerOpen(false);
          setShowDevices(true);
        }}
        onRemoved={leave}
        modal={narrow}
      />
      <Show when={showDevices()}>
        <DevicesDialog trust={trust} onLeave={() => props.onLeave()} onClose={() => setShowDevices(false)} />
      </Show>
      <Switch
        fallback={<Welcome sessions={sessions} agents={agents} server={server} onMenu={() => setDrawerOpen(true)} />}
      >
        <Match when={activePage() === "agents"}>
          <AgentsPage agents={agents} onMenu={() => setDrawerOpen(true)} onStart={(agent) => start({ agent })} />
        </Match>
        <Match when={activePage() === "conversations"}>
          <ConversationsPage
            agents={agents.list()}
            onMenu={() => setDrawerOpen(true)}
            onContinue={({ agent, agent_session_id }) => start({ agent, agent_session_id: agent_session_id ?? null })}
          />
        </Match>
        <Match when={activeId()} keyed>
          {(id) => (
            <SessionView
              id={id}
              sessions={sessions}
              agents={agents}
              server={server}
              onMenu={() => setDrawerOpen(true)}
              onLive={setLive}
              onGone={() => {
                void sessions.refresh();
                leave(id);
              }}
            />
          )}
        </Match>
      </Switch>
    </div>
  );
}
