// The page in the words of somebody who uses it.

import { expect, type Locator, type Page } from "@playwright/test";

export class Cockpit {
  readonly composer: Locator;
  readonly log: Locator;
  /** What was answered, first to last: by VoxPilot, or by the agent that is talked to straight. */
  readonly answers: Locator;
  readonly mine: Locator;
  readonly stop: Locator;
  readonly cards: Locator;
  readonly sidebar: Locator;
  /** What was sent last and is to be seen in the conversation, so that an earlier turn is not taken for the one that answers it. */
  lastSent = "";

  constructor(readonly page: Page) {
    this.composer = page.getByRole("textbox", { name: "Message", exact: true });
    this.log = page.getByRole("log");
    this.mine = this.log.getByRole("article", { name: "You", exact: true });
    this.answers = this.log.locator("article.message.assistant");
    this.stop = page.getByRole("button", { name: "Stop", exact: true });
    this.cards = page.getByRole("region", { name: "Waiting for you" }).getByRole("article");
    this.sidebar = page.getByRole("navigation", { name: "Sessions", includeHidden: true });
  }

  async signIn(link: string): Promise<void> {
    await this.page.goto(link);
    await expect(this.composer).toBeVisible();
  }

  async send(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
    this.lastSent = text;
  }

  /** What an agent says and does, by the name of its agent session; the latest if there are several. Behind a main AI it is a block,
   * in straight talk it is the conversation itself. */
  copilot(name = "main"): CopilotBlock {
    const block = this.log.locator("details.copilot-block, .agent-turn").filter({ hasText: `[${name}]` });
    return new CopilotBlock(block.last(), this);
  }

  /** The list of sessions: always there on a desk, in a drawer on a phone. */
  async openSessions(): Promise<void> {
    const menu = this.page.getByRole("button", { name: "Show sessions" });
    // On a phone the list lies over the button while it is open.
    const isOpen = await this.sidebar.evaluate((list) => list.classList.contains("open"));
    if (!isOpen && (await menu.isVisible())) await menu.click();
    await expect(this.sidebar.getByRole("button", { name: "New session" })).toBeInViewport();
  }

  async expectIdle(): Promise<void> {
    await expect(this.stop).toBeHidden();
    await expect(this.log).toHaveAttribute("aria-busy", "false");
  }

  async expectNoSidewaysScroll(): Promise<void> {
    const [content, width] = await this.page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    expect(content, "width of the page").toBeLessThanOrEqual(width ?? 0);
    const log = await this.log.evaluateAll((logs) => logs.map((log) => log.scrollWidth - log.clientWidth));
    expect(
      log.filter((surplus) => surplus > 0),
      "sideways scroll of the conversation",
    ).toEqual([]);
  }
}

export class CopilotBlock {
  readonly title: Locator;
  readonly spinner: Locator;
  readonly stream: Locator;

  constructor(
    readonly block: Locator,
    readonly cockpit: Cockpit,
  ) {
    this.title = block.locator("> summary, > .agent-turn-head");
    this.spinner = this.title.getByRole("img", { name: "running" });
    this.stream = block.locator(".copilot-stream");
  }

  /** The agent's own words, whether or not the block is open. */
  async text(): Promise<string> {
    const parts = await this.stream.locator(".copilot-text").allTextContents();
    return parts.join("");
  }

  /** Everything in the block, byte for byte. */
  async everything(): Promise<string> {
    return (await this.stream.textContent()) ?? "";
  }

  async expectRunning(): Promise<void> {
    await this.expectCurrent();
    await expect(this.stream).toBeVisible();
    await expect(this.spinner).toBeVisible();
  }

  /** Behind a main AI the block has closed itself; in straight talk, where nothing closes, it says that it is no longer busy. */
  async expectEnded(word: string, timeout_ms = 30_000): Promise<void> {
    await this.expectCurrent();
    await expect(this.title).toContainText(`— ${word}`, { timeout: timeout_ms });
    const closes = await this.block.evaluate((block) => block instanceof HTMLDetailsElement);
    if (closes) await expect(this.block).not.toHaveAttribute("open");
    else await expect(this.block).toHaveAttribute("aria-busy", "false");
    await expect(this.spinner).toHaveCount(0);
    await expect(this.block.getByRole("button", { name: "Stop this agent" })).toHaveCount(0);
  }

  /** The message that was sent last has come, and this block stands below it. */
  private async expectCurrent(): Promise<void> {
    const { mine, lastSent } = this.cockpit;
    if (lastSent === "") return;
    const message = mine.last();
    await expect(message).toContainText(lastSent);
    const asked = await message.elementHandle();
    const follows = (block: Element, asked: Node | null) =>
      asked !== null && (asked.compareDocumentPosition(block) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    await expect.poll(() => this.block.evaluate(follows, asked), { message: "a block below the message" }).toBe(true);
  }

  /** Waits until the agent has said so much, and answers what it has said. */
  async reaches(length: number): Promise<string> {
    await expect.poll(async () => (await this.text()).length, { timeout: 20_000 }).toBeGreaterThan(length);
    return await this.text();
  }
}

/** What the demo agent says when it is told to count. */
export function counted(to: number): string {
  return Array.from({ length: to }, (_, index) => index + 1).join(" ");
}
