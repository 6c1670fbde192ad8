/**
 * An application with a live list and a live object, and a database that all its processes share: a file with a card a line.
 */
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as cards from "./cards.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Board", modules: [cards, pages], rate: false });`,
  "src/cards.server.ts": `
    import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
    import { publish, query, RPCError, server, session } from "tsweb";
    import { setTimeout as pause } from "node:timers/promises";
    export interface Card { readonly id: string; readonly title: string }
    const file = process.env.CARDS_FILE ?? "cards.txt";
    const read = (): Card[] => {
      try {
        return readFileSync(file, "utf8").split("\\n").filter(Boolean).map((line) => JSON.parse(line));
      } catch {
        return [];
      }
    };
    export const cards = query({ on: (board) => ["board:" + board] }, (board: string): Card[] => {
      const list = read();
      if (list.some(({ title }) => title === "secret")) throw new RPCError("forbidden", "Not for you.");
      return list;
    });
    export const summary = query({ on: (board) => ["board:" + board] }, (board: string) => {
      if (read().some(({ title }) => title === "secret")) throw new RPCError("forbidden", "Not for you.");
      return { count: read().length };
    });
    export const add = server(async (board: string, id: string, title: string, ms: number = 0) => {
      await pause(ms);
      if (title === "bad") throw new RPCError("conflict", "No.");
      appendFileSync(file, JSON.stringify({ id, title }) + "\\n");
      await publish("board:" + board);
      return id;
    });
    /** Adds a card without a message. */
    export const slip = server(async (id: string, title: string) => {
      appendFileSync(file, JSON.stringify({ id, title }) + "\\n");
    });
    export const clear = server(async (board: string) => {
      writeFileSync(file, "");
      await publish("board:" + board);
    });
    export const other = server((board: string) => cards.live(board));`,
  "src/pages.server.tsx": `
    import { channel, page } from "tsweb";
    import { Board, CheckedSummary, Summary } from "./board.tsx";
    import { cards, summary } from "./cards.server.ts";
    export const board = page("/:board", async ({ board }: { board: string }) => (
      <Board board={board} cards={await cards.live(board)} />
    ));
    export const summaryPage = page("/summary/:board", async ({ board }: { board: string }) => (
      <Summary summary={await summary.live(board)} />
    ));
    export const checkedPage = page("/checked/:board", async ({ board }: { board: string }) => (
      <CheckedSummary summary={await summary.live(board)} />
    ));`,
  "src/board.tsx": `
    import { live, type LiveHandle, no_wait, optimistic, state, view } from "tsweb/browser";
    import { add, other, slip, type Card } from "./cards.server.ts";
    const List = ({ cards }: { cards: LiveHandle<Card[]> }) => {
      const list = live(cards);
      return <ol>{list.value.map(({ id, title }) => <li key={id}>{title}</li>)}</ol>;
    };
    interface SummaryProps { summary: LiveHandle<{ count: number }> }
    export const Summary = view((props: SummaryProps) => <h1>{live(props.summary).value.count}</h1>);
    export const CheckedSummary = view((props: SummaryProps) => {
      const summary = live(props.summary);
      return <h1>{summary.error?.code ?? summary.value.count}</h1>;
    });
    export const Board = view(({ board, cards }: { board: string; cards: LiveHandle<Card[]> }) => {
      const list = live(cards);
      const shown = state({ handle: null as LiveHandle<Card[]> | null, failure: "" });
      const page = globalThis as { shown?: string[] };
      page.shown = [...(page.shown ?? []), list.value.map(({ title }) => title).join()];
      Object.assign(page, {
        list,
        add: (title: string, ms = 0) => add(board, crypto.randomUUID(), title, ms),
        addNow: (title: string) => no_wait(() => add(board, crypto.randomUUID(), title)),
        propose: (title: string, ms = 0) => {
          const id = crypto.randomUUID();
          return optimistic(list, (cards) => cards.push({ id, title }), () => add(board, id, title, ms))
            .catch((error) => (shown.failure = error.code));
        },
        proposeSilently: (title: string) => {
          const id = crypto.randomUUID();
          return optimistic(list, (cards) => cards.push({ id, title }), () => slip(id, title));
        },
        open: async (board: string) => { shown.handle = await other(board); },
        titles: () => [...document.querySelectorAll("ul li")].map((item) => item.textContent).join(),
      });
      return (
        <main>
          <ul>{list.value.map(({ id, title }) => <li key={id}>{title}</li>)}</ul>
          <p>{list.error?.code} {shown.failure} {list.pending.map(({ state }) => state).join()}</p>
          {shown.handle && <List cards={shown.handle} />}
        </main>
      );
    });`,
};

/** Writes the application, and builds it. The caller has to remove it. */
export async function buildBoardApp(): Promise<TestProject> {
  const project = TestProject.fromFiles(FILES);
  await buildOnce(project.dir, "live-board");
  return project;
}
