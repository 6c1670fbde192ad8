/**
 * The application of the tests that run several of its processes: with sign-ins, functions that run once, and cached pages. It is built
 * once in a run of the tests.
 */
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as news from "./news.server.tsx";
    import * as orders from "./orders.server.tsx";
    import * as users from "./users.server.ts";
    export default new App({ modules: [news, orders, users], rate: false });`,
  "src/users.server.ts": `
    import { request, server, session } from "tsweb";
    export const enter = server((user: string) => session.login(user));
    export const who = server(() => session.user()?.sub ?? "nobody");
    export const revoke = server((user: string) => session.revoke(user));
    export const watch = server(async function* () {
      yield session.user()?.sub ?? "nobody";
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    });`,
  "src/orders.server.tsx": `
    import { appendFileSync } from "node:fs";
    import { page, server } from "tsweb";
    export const order = server({ idempotent: true }, async (item: string, ms: number = 0) => {
      appendFileSync("runs", item + "\\n");
      await new Promise((resolve) => setTimeout(resolve, ms));
      return item + " of " + process.pid;
    });
    export const shop = page("/", () => <form action={order}><input name="item" value="tea" /><button>Order</button></form>);`,
  "src/news.server.tsx": `
    import { channel, page, query, revalidate, route, server, session } from "tsweb";
    let renderings = 0;
    export const news = page("/news/:id", { cache: { seconds: 600, query: ["sort"] } }, ({ id }) => {
      renderings++;
      return <main>news {id} of {process.pid}: {renderings}</main>;
    });
    export const personal = page("/personal", { cache: { seconds: 600 } }, () => <main>{session.user()?.sub ?? "nobody"}</main>);
    export const feed = page("/feed", { cache: { seconds: 600 } }, async () => <main>{(await channel("room")).constructor.name}</main>);
    export const list = query({ on: ["room"] }, () => 1);
    export const live = page("/live", { cache: { seconds: 600 } }, async () => <main>{typeof await list.live()}</main>);
    export const save = server((text: string) => text);
    export const form = page("/form", { cache: { seconds: 600 } }, () => <main><form action={save}><input name="text" /></form></main>);
    export const touch = route("POST /touch/:id", async (_request, { id }) => {
      await revalidate("/news/" + id);
      return new Response("done");
    });
    export const count = route("GET /count", () => new Response(String(renderings)));`,
};

/** Builds the application in a folder. The caller removes it. */
export async function buildProcesses(): Promise<TestProject> {
  const project = TestProject.fromFiles(FILES);
  await buildOnce(project.dir, "processes");
  return project;
}
