// All conversations in one list: what is asked for, what is wanted of it, and how it is put.

import { createSignal } from "solid-js";
import { sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import type { Conversation, ConversationList } from "../api/types";
import { keepLooking } from "./look";

export interface Conversations {
  list: () => ConversationList | null;
  /** The agents are being asked. */
  asking: () => boolean;
  error: () => string | null;
  refresh(): Promise<void>;
  /** Asks every agent for what it keeps by itself. */
  ask(): Promise<void>;
}

export function createConversations(): Conversations {
  const [list, setList] = createSignal<ConversationList | null>(null);
  const [asking, setAsking] = createSignal(false);
  const [error, setError] = createSignal<string | null>(null);
  let latest = 0;
  const take = async (fetch: () => Promise<ConversationList>) => {
    latest += 1;
    const mine = latest;
    try {
      const found = await fetch();
      // A look that was overtaken would take away what the agents have just told.
      if (mine !== latest) return;
      setList(found);
      setError(null);
    } catch (reason) {
      if (mine === latest) setError(sentence(reason));
    }
  };
  const refresh = async () => {
    if (!asking()) await take(pagesApi.conversations);
  };
  keepLooking(() => void refresh());
  return {
    list,
    asking,
    error,
    refresh,
    async ask() {
      setAsking(true);
      await take(pagesApi.askAgents);
      setAsking(false);
    },
  };
}

export interface Wanted {
  text: string;
  /** The id of an agent; empty for all. */
  agent: string;
}

/** The directories with what is wanted of each; those with nothing are left out. */
export function wantedOf({ directories }: ConversationList, { text, agent }: Wanted): ConversationList["directories"] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return directories
    .map(({ work_dir, conversations }) => ({
      work_dir,
      conversations: conversations.filter((one) => {
        const all = `${one.title} ${work_dir}`.toLowerCase();
        return (agent === "" || one.agent === agent) && words.every((word) => all.includes(word));
      }),
    }))
    .filter(({ conversations }) => conversations.length > 0);
}

/** The agents that appear in the list. */
export function agentsOf({ directories }: ConversationList): string[] {
  return [...new Set(directories.flatMap(({ conversations }) => conversations.map(({ agent }) => agent)))];
}

/** It exists only with its agent. */
export function isElsewhere(one: Conversation): boolean {
  return one.session_id == null;
}
