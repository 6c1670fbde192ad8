/**
 * The application of the tests that run a built server, or several of its processes. It is built once in a run of the tests.
 */
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

const FILES = {
  "package.json": '{ "name": "@acme/shop", "private": true, "type": "module" }\n',
  // Each variable is one that a test sets.
  "src/app.ts": `
    import { existsSync } from "node:fs";
    import { App, realtime } from "tsweb";
    import { redis } from "tsweb/redis";
    import * as calls from "./calls.server.ts";
    import * as descriptors from "./descriptors.server.ts";
    import * as files from "./files.server.ts";
    import * as news from "./news.server.tsx";
    import * as orders from "./orders.server.tsx";
    import * as output from "./output.server.ts";
    import * as users from "./users.server.ts";
    const { FAIL_AT_START, LOADING_MS, RATE_CALLS, REPORT_ERRORS, ROOM_REDIS } = process.env;
    if (LOADING_MS) console.log("The application is loaded.");
    if (FAIL_AT_START) throw new TypeError("No database");
    if (existsSync("broken")) throw new Error("This release is broken.");
    await new Promise((resolve) => setTimeout(resolve, Number(LOADING_MS ?? 0)));
    if (ROOM_REDIS) realtime.use_bus(redis(ROOM_REDIS));
    const on_error = (error: unknown, { kind }: { kind: string }) => {
      if (REPORT_ERRORS) console.error(\`reported \${kind}: \${error}\`);
    };
    export default new App({
      modules: [calls, descriptors, files, news, orders, output, users],
      // An hour rather than a minute, so that no call slides out of the window during a test.
      rate: RATE_CALLS ? { calls: Number(RATE_CALLS), seconds: 3600 } : false,
      authenticate: (token) => (token === "token-of-grace" ? { sub: "grace" } : null),
      on_error,
    });`,
  "src/calls.server.ts": `
    import { publish, server } from "tsweb";
    export const ping = server(() => "pong");
    export const reject_without_await = server(() => {
      void Promise.reject(new Error("Unawaited failure"));
      return "returned";
    });
    export const crash = server(() => {
      setTimeout(() => {
        throw new RangeError("Thrown in a timer");
      });
      return "returned";
    });
    export const publish_without_await = server(() => {
      void publish("x".repeat(129), 1);
      return "returned";
    });
    export const publish_cycle_without_await = server(() => {
      const message: { self?: unknown } = {};
      message.self = message;
      void publish("x", message);
      return "returned";
    });
    export const throw_text = server(() => {
      throw "no stock";
    });
    export const reject_later = server(() => {
      setTimeout(() => Promise.reject("too late"));
      return "returned";
    });
    export const pid = server(() => process.pid);
    export const slow = server(async () => {
      console.log("A slow call has started.");
      await new Promise((resolve) => setTimeout(resolve, 700));
      return process.pid;
    });`,
  "src/descriptors.server.ts": `
    import { closeSync, openSync, readFileSync } from "node:fs";
    import { server } from "tsweb";
    export const read_file = server(() => readFileSync("package.json", "utf8").length);
    const opened: number[] = [];
    export const take_all = server(() => {
      try {
        for (;;) opened.push(openSync("package.json"));
      } catch (error) {
        setTimeout(() => opened.splice(0).forEach((descriptor) => closeSync(descriptor)), 1_500);
        return error.code;
      }
    });`,
  "src/files.server.ts": `
    import { server, type int } from "tsweb";
    let arrived = 0;
    let wake = () => {};
    const complete = new Promise<void>((resolve) => { wake = resolve; });
    export const upload = server({ max_body: 200_000_000 }, async (file: File, together: int) => {
      if (++arrived >= together) wake();
      await complete;
      let bytes = 0;
      for await (const chunk of file.stream()) bytes += chunk.length;
      return bytes;
    });
    export const collect_garbage = server(() => globalThis.gc?.());
    export const memory_bytes = server(() => process.memoryUsage().rss);`,
  "src/output.server.ts": `
    import { server } from "tsweb";
    export const fail = server((n: number) => {
      throw new Error("failure " + n + " " + "x".repeat(20_000));
    });
    export const print = server((n: number) => {
      console.log("printed " + n + " " + "x".repeat(20_000));
      return n;
    });`,
  "public/reports/may.txt": "of the build",
  "src/users.server.ts": `
    import { publish, request, route, server, session } from "tsweb";
    export const report = route("GET /reports/:name", () => new Response("for " + session.user()?.sub));
    export const send = server(async (text: string) => publish("room", text));
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
