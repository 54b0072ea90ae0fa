import {
  batch,
  createEffect,
  createMemo,
  createSignal,
  getOwner,
  Match,
  on,
  onCleanup,
  onMount,
  runWithOwner,
  Show,
  Switch,
} from "solid-js";
import { sentence } from "../api/client";
import type { Row, SessionDraft } from "../api/types";
import { ArtifactReview, ChangesPanel, ReviewPage } from "../changes";
import { loadMoreIcons } from "../kit/Icon";
import { insist, later } from "../kit/later";
import { tell } from "../kit/toasts";
import { createAgents } from "../state/agents";
import { doomed, isDoomed } from "../state/doomed";
import { setFinding } from "../state/finding";
import { isFresh } from "../state/fresh";
import { createProject } from "../state/project";
import {
  activeId,
  activePage,
  closeDevices,
  devices_href,
  go,
  goTo,
  type Page,
  pageHref,
  type Route,
  reviewHref,
  route,
  showsDevices,
} from "../state/route";
import { grouped, neighbour, nextWaiting } from "../state/rows";
import { createServerState } from "../state/server";
import { createSessions } from "../state/sessions";
import { createTrust } from "../state/trust";
import { visible } from "../state/visible";
import { FileViewer } from "../viewer";
import { TopBanner } from "./Banners";
import { Frame } from "./Frame";
import { focusComposer, watchShortcuts } from "./keyboard";
import { OutboxList } from "./outboxPart";
import type { Action } from "./Palette";
import type { SessionActions } from "./SessionMenu";
import type { LiveState } from "./SessionView";
import { Sidebar } from "./Sidebar";
import type { Shell } from "./shell";

/** The first screen has the line for itself until then. */
const early_ms = 2_000;

const Home = later(async () => (await import("./Home")).Home);
const FreshSession = later(async () => (await import("./FreshSession")).FreshSession);
const SessionView = later(async () => (await import("./SessionView")).SessionView);
const NoPlace = later(async () => (await import("./GoneSession")).NoPlace);
const Palette = later(async () => (await import("./Palette")).default);
const DeleteDialog = later(async () => (await import("./DeleteDialog")).DeleteDialog);
const Help = later(async () => (await import("./Help")).default);
const AgentsPage = later(async () => (await import("../pages/AgentsPage")).AgentsPage);
const ConversationsPage = later(async () => (await import("../pages/ConversationsPage")).ConversationsPage);
const SettingsPage = later(async () => (await import("../pages/settings/SettingsPage")).SettingsPage);
const DevicesDialog = later(async () => (await import("../pages/DevicesDialog")).DevicesDialog);

/** Fetches what the address shows, while the server is still asked who this is. */
export function fetchScreen(): void {
  if (isHome()) void Home.preload();
  else if (route().kind === "session") void SessionView.preload();
}
const isHome = () => route().kind === "home";

/** What the window is called while they are open. */
const page_titles: Partial<Record<Page, string>> = {
  agents: "Agents",
  conversations: "Resume a session",
  settings: "Settings",
};

/** The page of somebody who is let in. */
export function Cockpit(props: { onLeave(): void }) {
  const sessions = createSessions();
  const agents = createAgents(sessions.loaded);
  const server = createServerState();
  const project = createProject(server);
  const trust = createTrust(() => {
    server.refresh();
    void agents.refresh();
    void sessions.refresh();
  });
  onCleanup(() => sessions.close());

  const [live, setLive] = createSignal<LiveState | null>(null);
  const [isConnected, setConnected] = createSignal(true);
  const [overlay, setOverlay] = createSignal<"palette" | "help" | null>(null);
  const [isPanelOpen, setPanelOpen] = createSignal(false);
  const [renaming, setRenaming] = createSignal<string | null>(null);
  /** The session that somebody wants to delete, and the agents whose records are asked about first. */
  const [leaving, setLeaving] = createSignal<{ id: string; keepers: string[] } | null>(null);
  let stop = () => {};
  createEffect(
    on(activeId, () => {
      batch(() => {
        setLive(null);
        setConnected(true);
        setPanelOpen(false);
      });
    }),
  );

  /** The list as it stands, ahead of the server's word where this page knows more. */
  const rows = createMemo((): Row[] => {
    const here = sessions.list.filter(({ id, archived }) => !isDoomed(id) && !archived);
    const now = live();
    return now ? here.map((row) => (row.id === activeId() ? { ...row, ...now } : row)) : [...here];
  });
  const groups = createMemo(() => grouped(rows()));
  const active = createMemo(() => sessions.list.find((session) => session.id === activeId()));
  const waiting = createMemo(() => {
    const elsewhere = sessions.list.filter(({ id, waiting, muted }) => id !== activeId() && waiting > 0 && !muted);
    return (live()?.waiting ?? 0) + elsewhere.length;
  });
  const attention = {
    waiting,
    title: () => {
      const page = activePage();
      const title = page ? page_titles[page] : visible(active()?.title ?? "");
      return title ? `${title} · VoxPilot` : "VoxPilot";
    },
    text: () => live()?.question ?? "An agent needs your answer.",
  };
  const owner = getOwner();
  // What is shown first does not wait for the title of the window.
  void insist(() => import("../state/notify")).then(({ createAttention }) =>
    runWithOwner(owner, () => createAttention(attention)),
  );

  const deleting = () => insist(() => import("../state/deleting"));
  const attempt = (run: Promise<unknown>) => void run.catch((reason) => tell(sentence(reason)));
  const actions: SessionActions = {
    rename: setRenaming,
    set: (id, change) => attempt(sessions.change(id, change)),
    remove: (id) => attempt(askThenRemove(id)),
  };
  async function askThenRemove(id: string): Promise<void> {
    const keepers = await (await deleting()).keepersToAskAbout(agents);
    if (keepers.length > 0) setLeaving({ id, keepers });
    else remove(id);
  }
  function remove(id: string) {
    const wasOpen = activeId() === id;
    const undo = () => wasOpen && goTo(id);
    attempt(
      deleting().then(({ deleteLater }) => {
        deleteLater(id, undo, () => sessions.forget(id));
        if (wasOpen) goTo(null);
      }),
    );
  }
  // The page that was here before had begun it.
  if (doomed().length > 0) attempt(deleting().then(({ finishDeleting }) => finishDeleting(sessions.forget)));
  const shell: Shell = { sessions, agents, server, project, actions };
  const fresh = () => {
    goTo(null);
    requestAnimationFrame(focusComposer);
  };
  const step = (by: 1 | -1) => {
    const id = neighbour(groups(), activeId(), by);
    if (id) goTo(id);
  };
  const toWaiting = () => {
    const id = nextWaiting(groups(), activeId());
    if (id) goTo(id);
    else tell("Nothing needs you.");
  };
  /** A file that is read beside the conversation. */
  const reading = () => {
    const now = route();
    return now.kind === "session" ? now.file : undefined;
  };
  const readingAt = () => (route() as { line?: number }).line ?? null;
  const toggleChanges = () => {
    const id = activeId();
    if (id === null || document.querySelector("dialog[open]")) return;
    setPanelOpen((open) => reading() !== undefined || !open);
    if (reading() !== undefined) goTo(id);
  };
  // Where one goes next is here before the network may be gone.
  const early = setTimeout(() => {
    for (const part of [Home, SessionView, Palette, Help, OutboxList]) void part.preload();
    void loadMoreIcons();
  }, early_ms);
  onCleanup(() => clearTimeout(early));
  onMount(() =>
    onCleanup(
      watchShortcuts({
        palette: () => setOverlay("palette"),
        help: () => setOverlay("help"),
        fresh,
        changes: toggleChanges,
        find: () => (route().kind === "session" ? () => setFinding(true) : null),
        step,
        nextWaiting: toWaiting,
        stop: () => stop(),
      }),
    ),
  );
  const start = async (draft: SessionDraft) => {
    const session = await sessions.create(draft);
    goTo(session.id);
  };
  const toDo = (): Action[] => [
    { text: "New session", icon: "new", keys: "Ctrl Shift O", run: fresh },
    ...(activeId() === null
      ? []
      : [{ text: "Open changes", icon: "changes", keys: "Ctrl Shift D", run: toggleChanges } as const]),
    { text: "Next that needs you", icon: "bell", keys: "Alt N", run: toWaiting },
    { text: "Resume a session", icon: "history", run: () => go(pageHref("conversations")) },
    { text: "Agents", icon: "agents", run: () => go(pageHref("agents")) },
    { text: "Settings", icon: "settings", run: () => go(pageHref("settings")) },
    { text: "Devices", icon: "devices", run: () => go(devices_href) },
    { text: "Keyboard shortcuts", icon: "help", keys: "?", run: () => setOverlay("help") },
  ];
  const hearsServer = () => isConnected() && sessions.error() === null;
  const reviewOf = (now: Route) => (now.kind === "review" ? { since: now.since, file: now.file } : {});
  const wantedAgent = () => {
    const now = route();
    return now.kind === "page" && now.page === "agents" ? now.section : undefined;
  };
  const artifactId = () => {
    const now = route();
    return now.kind === "artifact" ? now.id : null;
  };

  return (
    <Frame
      isHome={isHome()}
      needsYou={groups()[0]?.name === "Needs you"}
      isConnected={hearsServer()}
      top={<TopBanner trust={trust} />}
      sidebar={(hide) => (
        <Sidebar
          project={project.name()}
          rows={rows()}
          groups={groups()}
          loaded={sessions.loaded()}
          hasMore={sessions.hasMore()}
          error={sessions.error()}
          isConnected={hearsServer()}
          actions={actions}
          renaming={renaming()}
          onRenamed={(id, title) => {
            setRenaming(null);
            if (title !== null) attempt(sessions.change(id, { title }));
          }}
          onMore={() => sessions.showMore()}
          onHide={hide}
          onFresh={fresh}
          onSearch={() => setOverlay("palette")}
        />
      )}
      panel={
        <Show when={route().kind === "session" && activeId()} keyed>
          {(id) => (
            <Show
              when={reading()}
              keyed
              fallback={
                <ChangesPanel sessionId={id} onClose={() => setPanelOpen(false)} onReview={() => go(reviewHref(id))} />
              }
            >
              {(path) => <FileViewer sessionId={id} path={path} line={readingAt()} onClose={() => goTo(id)} />}
            </Show>
          )}
        </Show>
      }
      hasPanel={reading() !== undefined || (isPanelOpen() && route().kind === "session")}
      onFresh={fresh}
      onSearch={() => setOverlay("palette")}
      isSession={route().kind === "session" && reading() === undefined}
      onSwipe={step}
    >
      <Switch
        fallback={
          <main class="pane session">
            <NoPlace title="Page not found" text="The link may be incomplete or mistyped." />
          </main>
        }
      >
        <Match when={isHome()}>
          <main class="pane session">
            <Home shell={shell} rows={rows()} groups={groups()} />
          </main>
        </Match>
        <Match when={activePage() === "agents"}>
          <AgentsPage
            agents={agents}
            wanted={wantedAgent()}
            onMenu={() => goTo(null)}
            onStart={(agent) => start({ agent })}
          />
        </Match>
        <Match when={activePage() === "settings"}>
          <SettingsPage shell={shell} />
        </Match>
        <Match when={activePage() === "conversations"}>
          <ConversationsPage
            agents={agents.list()}
            onMenu={() => goTo(null)}
            onContinue={({ agent, agent_session_id }) => start({ agent, agent_session_id: agent_session_id ?? null })}
          />
        </Match>
        <Match when={artifactId()} keyed>
          {(id) => (
            <main class="pane">
              <ArtifactReview artifactId={id} />
            </main>
          )}
        </Match>
        <Match when={route().kind === "review" && activeId()} keyed>
          {(id) => (
            <main class="pane">
              <ReviewPage sessionId={id} {...reviewOf(route())} onClose={() => goTo(id)} />
            </main>
          )}
        </Match>
        <Match when={activeId()} keyed>
          {(id) => {
            // By the time the server has made it, what shows it is here.
            void SessionView.preload();
            return (
              <main class="pane session">
                <Show when={!isFresh(id)} fallback={<FreshSession id={id} shell={shell} />}>
                  <SessionView
                    id={id}
                    shell={shell}
                    isPanelOpen={isPanelOpen()}
                    onLive={setLive}
                    onStopper={(stopper) => {
                      stop = stopper;
                    }}
                    onConnected={setConnected}
                    onChanges={toggleChanges}
                    onFresh={fresh}
                  />
                </Show>
              </main>
            );
          }}
        </Match>
      </Switch>
      <Show when={showsDevices()}>
        <DevicesDialog trust={trust} onLeave={() => props.onLeave()} onClose={closeDevices} />
      </Show>
      <Show when={leaving()} keyed>
        {({ id, keepers }) => (
          <DeleteDialog
            title={visible(sessions.list.find((session) => session.id === id)?.title ?? "")}
            keepers={keepers}
            onDelete={() => {
              setLeaving(null);
              remove(id);
            }}
            onClose={() => setLeaving(null)}
          />
        )}
      </Show>
      <Show when={overlay() === "palette"}>
        <Palette rows={rows()} actions={toDo()} sessionActions={actions} onClose={() => setOverlay(null)} />
      </Show>
      <Show when={overlay() === "help"}>
        <Help onClose={() => setOverlay(null)} />
      </Show>
    </Frame>
  );
}
