// What is done when somebody chooses a next step below a bad ending.

import { sentence } from "../api/client";
import type { Agent } from "../api/types";
import { tell } from "../kit/toasts";
import { focusComposer } from "../shell/keyboard";
import { unusable } from "../state/agents";
import { agentIdOf, sessionName, shortTitle } from "../state/delegation";
import { watchesOnly } from "../state/device";
import type { StreamingToolCall } from "../state/model";
import { goOnText, isLatest } from "../state/resume";
import { go, pageHref, turnReviewHref } from "../state/route";
import { isStraight } from "../state/straight";
import { wholeText } from "../state/text";
import { login_id, showQuestion } from "./ask/shown";
import type { SessionHands } from "./nextSteps";
import type { Step } from "./sayings";

/** What can be done, and who does it. */
export interface NextSteps {
  sessionId: string;
  /** A turn is over, nothing waits, and this call belongs to the turn that was last: it can be continued, or tried again. */
  canGoOn(call: StreamingToolCall): boolean;
  goOn(call: StreamingToolCall, check: boolean): void;
  again(call: StreamingToolCall): void;
  /** The name of another agent that could be asked instead; null where there is none. */
  other(call: StreamingToolCall): string | null;
  askOther(call: StreamingToolCall): void;
  signIn(): void;
  showTraffic(): void;
  reply(): void;
}

export interface StepButton {
  step: Step;
  text: string;
  /** A page to go to, where it is one. */
  href?: string;
  run?(): void;
}

/** The steps that are possible now, as buttons. */
export function stepButtons(steps: Step[], call: StreamingToolCall, next: NextSteps): StepButton[] {
  const canGoOn = next.canGoOn(call);
  const other = next.other(call);
  const all: Record<Step, StepButton | null> = {
    continue: canGoOn ? { step: "continue", text: "Continue", run: () => next.goOn(call, false) } : null,
    check: canGoOn ? { step: "check", text: "Let it check", run: () => next.goOn(call, true) } : null,
    again: canGoOn ? { step: "again", text: "Try again", run: () => next.again(call) } : null,
    other_agent:
      canGoOn && other !== null ? { step: "other_agent", text: `Use ${other}`, run: () => next.askOther(call) } : null,
    sign_in: { step: "sign_in", text: "Sign in", run: () => next.signIn() },
    install: { step: "install", text: "Install", href: pageHref("agents") },
    review: { step: "review", text: "Review", href: turnReviewHref(next.sessionId) },
    traffic: { step: "traffic", text: "Agent traffic", run: () => next.showTraffic() },
    reply: canGoOn ? { step: "reply", text: "Reply", run: () => next.reply() } : null,
  };
  return steps.flatMap((step) => all[step] ?? []);
}

export function createNextSteps(options: SessionHands): NextSteps {
  const { open } = options;
  const send = (content: string) => open.outbox.send(content);
  const other = (call: StreamingToolCall): Agent | undefined => {
    const mine = agentIdOf(call, options.own());
    const others = options.agents().filter((agent) => agent.id !== mine && unusable(agent) === null);
    return others.find(({ health }) => health === "ok") ?? others.find(({ health }) => health === "unknown");
  };
  const attempt = (run: Promise<unknown>) => void run.catch((error) => tell(sentence(error)));
  /** What the person had said, with all that went along. */
  const sayAgain = async () => {
    const last = open.state.entries.findLast((entry) => entry.kind === "message" && entry.role === "user");
    if (last?.kind === "message") await options.sayAgain(last.turnId ?? "", wholeText(last.text));
  };
  return {
    sessionId: open.id,
    canGoOn: (call) => !watchesOnly() && open.outbox.items.length === 0 && isLatest(open.state, call),
    goOn: (call, check) => send(goOnText(call, options.isRelay(), check)),
    again(call) {
      if (isStraight(call)) attempt(sayAgain());
      else send(`Give the agent session \`${sessionName(call)}\` its last task again.`);
    },
    other(call) {
      const agent = other(call);
      return agent ? shortTitle(agent.title) : null;
    },
    askOther(call) {
      const agent = other(call);
      if (!agent) return;
      if (!isStraight(call)) {
        send(`Use ${shortTitle(agent.title)} instead for the last task of the agent session \`${sessionName(call)}\`.`);
        return;
      }
      attempt(
        options.change({ agent: agent.id }).then((isDone) => {
          if (isDone) return sayAgain();
        }),
      );
    },
    signIn() {
      if (open.state.login !== null) showQuestion(login_id);
      else go(pageHref("agents"));
    },
    showTraffic: () => options.showTraffic(),
    reply: focusComposer,
  };
}
