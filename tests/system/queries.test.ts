/**
 * An application with live queries, as it is built and in development: what pages show, and what clients cannot reach.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { build, type RunningServer, runTsweb, startBuilt, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const FILES = {
  "src/board.server.ts": `
    import { publish, query, server, session, type int } from "tsweb";

    const SECRET = "SECRET-c0ffee";
    const boards = new Map<string, { id: int; title: string; at: Date }[]>();

    export const cards = query(
      { on: (board) => [\`board:\${board}\`] },
      (board: string, limit: int = 20) => (boards.get(board) ?? []).slice(0, limit),
    );
    export const mine = query({ on: [SECRET] }, () => session.user()?.sub ?? "nobody");
    export const add = server(async (board: string, title: string) => {
      const list = await cards(board); // a call of the function
      boards.set(board, [...list, { id: list.length, title, at: new Date(0) }]);
      await publish(\`board:\${board}\`);
    });
    export const open = server((board: string) => cards.live(board));
    export const login = server((name: string) => session.login(name));
  `,
  "src/board.tsx": `
    import { type LiveHandle } from "tsweb";
    import { view } from "tsweb/browser";
    import { add, open } from "./board.server.ts";

    type Cards = LiveHandle<{ id: number; title: string; at: string }[]>;
    export const Board = view(({ cards, who }: { cards: Cards; who: LiveHandle<string> }) => (
      <section onClick={async () => add("1", (await open("1")).id)}>
        <h1>{who.value}</h1>
        <ul>{cards.value.map((card) => <li key={card.id}>{card.title} {card.at}</li>)}</ul>
      </section>
    ));
  `,
  "src/pages.server.tsx": `
    import { page } from "tsweb";
    import { Board } from "./board.tsx";
    import { cards, mine } from "./board.server.ts";

    export const board = page("/boards/:id", async ({ id }) => (
      <Board cards={await cards.live(id, 5)} who={await mine.live()} />
    ));
  `,
  "src/app.ts": `
    import { App } from "tsweb";
    import * as board from "./board.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ modules: [board, pages], title: "Boards", strict: true });
  `,
};

const project = TestProject.fromFiles(FILES);
let server: RunningServer;

const call = (address: string, name: string, args: object, headers: Record<string, string> = {}) =>
  fetch(`${address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ args }),
  });

async function checkPages(address: string): Promise<void> {
  await call(address, "add", { board: "1", title: "First <card>" });
  await call(address, "add", { board: "2", title: "Another board" });
  const html = await (await fetch(`${address}/boards/1`)).text();
  expect(html).toMatch(/<li>First &lt;card(?:&gt;|>) 1970-01-01T00:00:00\.000Z<\/li>/);
  expect(html).toContain("<h1>nobody</h1>");
  expect(html).not.toContain("Another board");
  const login = await call(address, "login", { name: "Ada" });
  const cookie = login.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  expect(await (await fetch(`${address}/boards/1`, { headers: { cookie } })).text()).toContain("<h1>Ada</h1>");
  const handle = (await (await call(address, "open", { board: "2" })).json()).result;
  expect(handle).toMatchObject({ value: [{ id: 0, title: "Another board", at: "1970-01-01T00:00:00.000Z" }] });
  expect(Object.keys(handle)).toEqual(["query", "id", "value", "v"]);
}

beforeAll(async () => {
  await build(project.dir);
  server = await startBuilt(project.dir, { WEB_AUTH_SECRET: randomBytes(32).toString("hex") });
});
afterAll(async () => {
  await server?.stop();
  project.remove();
});

describe("a built application with queries", () => {
  it("renders their values into the page, and returns handles from server functions", () => checkPages(server.address));

  it("answers a call of a query as one of an unknown function [QUERY-8]", async () => {
    const response = await call(server.address, "cards", { board: "1" });
    const unknown = await call(server.address, "nothing", { board: "1" });
    expect([response.status, await response.text()]).toEqual([404, await unknown.text()]);
    expect((await fetch(`${server.address}/__web/rpc/cards`)).status).toBe(405);
  });

  it("has no code of them in the files of the browser [QUERY-9]", () => {
    const dir = join(project.dir, "dist/client");
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
    expect(texts.some((text) => text.includes('"add"') || text.includes("`add`"))).toBe(true); // the stub
    for (const text of texts) {
      expect(text).not.toContain("c0ffee");
      expect(text).not.toMatch(/["'`](?:cards|mine)["'`],\s*\[/); // a stub
      expect(text).not.toContain("board:");
    }
  });

  it("does not list them in its OpenAPI document", async () => {
    const { paths } = JSON.parse((await runTsweb(project.dir, ["openapi"])).output);
    expect(Object.keys(paths).toSorted()).toEqual(["/__web/rpc/add", "/__web/rpc/login", "/__web/rpc/open"]);
  });
});

it("renders the same in development, with the edited query after an edit", async () => {
  const dev = await startDev(project.dir);
  try {
    await checkPages(dev.address);
    const edited = FILES["src/board.server.ts"].replace('?? "nobody"', '?? "a stranger"');
    project.write("src/board.server.ts", edited);
    await expect
      .poll(async () => (await fetch(`${dev.address}/boards/1`)).text(), { timeout: 10_000 })
      .toContain("<h1>a stranger</h1>");
  } finally {
    await dev.stop();
  }
});
