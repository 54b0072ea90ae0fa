// The page in the words of somebody who uses it.

import { expect, type Locator, type Page } from "@playwright/test";

/** Bounds what is retried, like any other wait: without it a retry lasts as long as its test. */
const retry_limit_ms = 40_000;

export class Cockpit {
  readonly composer: Locator;
  readonly log: Locator;
  /** What was answered, first to last: by VoxPilot, or by the agent that is talked to straight. */
  readonly answers: Locator;
  readonly mine: Locator;
  readonly stop: Locator;
  readonly cards: Locator;
  readonly sidebar: Locator;
  /** Where no session is open. */
  readonly home: Locator;
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
    this.home = page.locator("main .home");
  }

  async signIn(link: string): Promise<void> {
    await this.page.goto(link);
    await expect(this.composer).toBeVisible();
  }

  async send(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
    // As it is shown: the marks around code are not.
    this.lastSent = (text.split("\n", 1)[0] ?? "").replaceAll("`", "");
  }

  /** What an agent says and does, by the name of its agent session; the latest if there are several. Behind a main AI it is a block,
   * in straight talk it is the conversation itself. */
  copilot(name = "main"): CopilotBlock {
    const block = this.log.locator("details.copilot-block, .agent-turn").filter({ hasText: `[${name}]` });
    return new CopilotBlock(block.last(), this);
  }

  /** The list of sessions: always there on a desk, a page of its own on a phone. */
  async openSessions(): Promise<void> {
    const fresh = this.sidebar.getByRole("button", { name: "New session" });
    const back = this.page
      .getByRole("link", { name: "Show sessions" })
      .or(this.page.getByRole("button", { name: /^(Show sessions|All settings|Back)$/ }));
    // From a section of the settings it leads over them and the session before, where a question may come to lie over the way back.
    await expect(async () => {
      await this.putAside();
      if (!(await fresh.isVisible())) await back.click({ timeout: 2_000 });
      await expect(fresh).toBeInViewport({ timeout: 1_000 });
    }).toPass({ timeout: retry_limit_ms });
  }

  /** On a phone a question lies over the page; a bar brings it back. */
  async putAside(): Promise<void> {
    const handle = this.page.getByRole("button", { name: "Put aside" }).filter({ visible: true });
    if (!(await handle.isVisible())) return;
    // A sheet that has just come takes nothing for half a second, either.
    await expect(async () => {
      await handle.click({ timeout: 1_000 });
      await expect(handle).toHaveCount(0, { timeout: 500 });
    }).toPass();
    // What the sheet has uncovered takes nothing for half a second.
    await this.page.waitForTimeout(600);
  }

  /** The rows of the list. */
  get rows(): Locator {
    return this.sidebar.locator(".session-row");
  }

  /** Where sessions are a page, whoever looked at them is not in one any more. */
  async backToSession(): Promise<void> {
    if (this.isPhone) await this.openSession();
  }

  get isPhone(): boolean {
    return (this.page.viewportSize()?.width ?? 0) < 700;
  }

  /** What is in the list, by its title or, without one, the first. */
  async openSession(title?: string): Promise<void> {
    await this.openSessions();
    const rows = title === undefined ? this.rows : this.rows.filter({ hasText: title });
    await rows.first().getByRole("link").click();
    await expect(this.log).toBeVisible();
  }

  /** The empty composer; nothing is made before something is sent. */
  async newSession(): Promise<void> {
    await this.openSessions();
    await this.sidebar.getByRole("button", { name: "New session" }).click();
    await this.expectHome();
  }

  async expectHome(): Promise<void> {
    await expect(this.home).toBeVisible();
    await expect(this.composer).toBeVisible();
  }

  /** Something to do with a session, from the menu of its row. */
  async fromRow(row: Locator, does: string): Promise<void> {
    await row.hover();
    await row.getByRole("button", { name: /^More for/ }).click();
    await this.page.getByRole("menuitem", { name: does, exact: true }).click();
  }

  /** Something to do with the session that is open, from its menu. */
  async fromHead(does: string): Promise<void> {
    await this.page.getByRole("button", { name: "More", exact: true }).click();
    await this.page.getByRole("menuitem", { name: does }).click();
  }

  /** A choice at the foot of the composer: its pill, or on a phone the one that stands for several. */
  async openPill(name: "Agent" | "Model" | "Mode" | "Permissions"): Promise<Locator> {
    const own = this.page.getByRole("button", { name: new RegExp(`^${name}: `) });
    const all = this.page.getByRole("button", { name: "Model, mode, branch" });
    await expect(own.or(all).first()).toBeVisible();
    const menu = this.page.getByRole("menu");
    // What a sheet has just uncovered takes nothing for half a second.
    await expect(async () => {
      if (!(await menu.isVisible())) await ((await own.isVisible()) ? own : all).click();
      await expect(menu).toBeVisible({ timeout: 1_000 });
    }).toPass({ timeout: retry_limit_ms });
    return menu;
  }

  async choose(pill: "Agent" | "Model" | "Mode" | "Permissions", choice: string | RegExp): Promise<void> {
    const menu = await this.openPill(pill);
    await menu.getByRole("menuitemradio", { name: choice }).click();
    await expect(menu).toHaveCount(0);
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
  /** Beside the card, or in the line of straight talk. */
  readonly stop: Locator;

  constructor(
    readonly block: Locator,
    readonly cockpit: Cockpit,
  ) {
    this.title = block.locator("> summary, > .agent-turn-line > .agent-turn-head");
    this.spinner = this.title.getByRole("img", { name: "running" });
    this.stream = block.locator(".copilot-stream");
    this.stop = block
      .locator("xpath=self::section | self::details/..")
      .getByRole("button", { name: "Stop this agent" });
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
    await expect(this.stop).toHaveCount(0);
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
