import { createEffect, createMemo, createResource, createSignal, on, onCleanup, onMount, Show } from "solid-js";
import { api } from "../api/client";
import { createAttention } from "../state/notify";
import { activeId, goTo } from "../state/route";
import { createServerState } from "../state/server";
import { createSessions } from "../state/sessions";
import { createTrust } from "../state/trust";
import { visible } from "../state/visible";
import { Banners } from "./Banners";
import { ContinueDialog } from "./ContinueDialog";
import { DevicesDialog } from "./DevicesDialog";
import { focusComposer, watchShortcuts } from "./keyboard";
import { type LiveState, SessionView } from "./SessionView";
import { Sidebar } from "./Sidebar";
import { Welcome } from "./Welcome";

const narrow = window.matchMedia?.("(max-width: 767px)");

/** The page of somebody who is let in. */
export function Cockpit(props: { onLeave(): void }) {
  const sessions = createSessions();
  // A page that was opened without a connection asks when there is one.
  const [agents, { refetch: refetchAgents }] = createResource(sessions.loaded, () =>
    api
      .agents()
      .then(({ agents }) => agents)
      .catch(() => []),
  );
  const [drawerOpen, setDrawerOpen] = createSignal(false);
  const [continuing, setContinuing] = createSignal(false);
  const [showDevices, setShowDevices] = createSignal(false);
  const [live, setLive] = createSignal<LiveState | null>(null);
  const server = createServerState();
  const trust = createTrust(() => {
    server.refresh();
    void refetchAgents();
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
      const title = active()?.title;
      return title ? `${visible(title)} · VoxPilot` : "VoxPilot";
    },
    text: () => live()?.question ?? "Something waits for your answer.",
  });
  // On a desk the last session is what one comes back for; the address may name another one.
  createEffect(() => {
    const latest = sessions.list[0];
    if (sessions.loaded() && activeId() === null && latest) goTo(latest.id);
  });
  createEffect(on(activeId, () => setLive(null)));

  const show = (id: string) => {
    goTo(id);
    setDrawerOpen(false);
    requestAnimationFrame(() => focusComposer());
  };
  const start = async () => {
    const session = await sessions.create({});
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
        onStart={start}
        onContinue={() => setContinuing(true)}
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
      <Show when={continuing()}>
        <ContinueDialog
          agents={agents() ?? []}
          onContinue={async (agent, own) => {
            const session = await sessions.create({ agent, agent_session_id: own.agent_session_id });
            show(session.id);
          }}
          onOpen={show}
          onClose={() => setContinuing(false)}
        />
      </Show>
      <Show
        when={activeId()}
        keyed
        fallback={
          <Welcome sessions={sessions} agents={agents() ?? []} server={server} onMenu={() => setDrawerOpen(true)} />
        }
      >
        {(id) => (
          <SessionView
            id={id}
            sessions={sessions}
            agents={agents() ?? []}
            server={server}
            onMenu={() => setDrawerOpen(true)}
            onLive={setLive}
            onGone={() => {
              void sessions.refresh();
              leave(id);
            }}
          />
        )}
      </Show>
    </div>
  );
}
