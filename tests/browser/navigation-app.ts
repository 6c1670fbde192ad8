/**
 * An application with links that Chromium prefetches, and with views that are hydrated late.
 */
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";
import { LATE_VIEWS } from "./late-views.ts";

const FILES = {
  "public/favicon.ico": "",
  "src/app.ts": `
    import { App } from "tsweb";
    import * as functions from "./functions.server.ts";
    import * as late from "./late.server.tsx";
    import * as pages from "./pages.server.tsx";
    export default new App({ base: "/shop", modules: [functions, late, pages], layout: pages.Layout, rate: false, transitions: true });`,
  "src/data.server.ts": `
    export const data = { value: 1, renders: {} as Record<string, number> };
    export const render = (name: string) => { data.renders[name] = (data.renders[name] ?? 0) + 1; };`,
  "src/functions.server.ts": `
    import { publish, redirect, server, session } from "tsweb";
    import { data } from "./data.server.ts";
    import { home } from "./pages.server.tsx";
    export const change = server(() => { data.value++; });
    export const say = server((text: string) => publish("room", text));
    export const enter = server(() => session.login("ada"));
    export const leave = server(() => session.logout());
    export const send = server((text: string) => { data.value++; return redirect(home.href({}, { query: { text } })); });
    export const count = server(function* () { yield 1; });`,
  "src/pages.server.tsx": `
    import { setTimeout as wait } from "node:timers/promises";
    import { channel, Head, type Markup, page, publish, request, route, session } from "tsweb";
    import { data, render } from "./data.server.ts";
    import { send } from "./functions.server.ts";
    import { Panel, Room } from "./views.tsx";
    export const Layout = ({ children }: { children: Markup }) => <main><Head><link rel="icon" href="data:," /></Head>{children}</main>;
    const Shown = () => (
      <p><b id="value">{data.value}</b> <i id="who">{session.user()?.sub ?? "nobody"}</i> <u id="prefetch">{String(request.prefetch)}</u></p>
    );
    const Links = () => (
      <nav>
        <a id="board" href={board.href({ id: 1 })}>board</a> <a id="plain" href={plain.href()}>plain</a>{" "}
        <a id="export" href={report.href()}>export</a> <a id="left" href={left.href()}>left</a>{" "}
        <a id="nofollow" rel="nofollow" href={board.href({ id: 2 })}>nofollow</a> <a id="target" target="_blank" href={board.href({ id: 3 })}>target</a>{" "}
        <a id="download" download href={board.href({ id: 4 })}>download</a> <a id="reserved" href={board.href({ id: 5 }, { query: { __x: 1 } })}>reserved</a>{" "}
        <a id="slow" href={slow.href()}>slow</a> <a id="cookie" href={effect.href({ kind: "cookie" })}>cookie</a>{" "}
        <a id="login" href={effect.href({ kind: "login" })}>login</a> <a id="publish" href={effect.href({ kind: "publish" })}>publish</a>{" "}
        <a id="room" href={room.href()}>room</a>
      </nav>
    );
    export const home = page("/", () => <><Links /><Shown /><Panel /></>);
    export const plain = page("/plain", () => (
      <><Links /><Shown /><form action={send}><input name="text" value="x" /><button id="send">send</button></form></>
    ));
    export const board = page("/boards/:id", ({ id }) => { render(id); return <><Links /><Shown /></>; });
    export const left = page("/left", { prefetch: false }, () => { render("left"); return <Shown />; });
    export const slow = page("/slow", async () => { const { value } = data; render("slow"); await wait(1500); return <b id="value">{value}</b>; });
    export const effect = page("/effects/:kind", async ({ kind }) => {
      if (kind === "cookie") request.set_cookie("seen", "1");
      if (kind === "login") session.login("eve");
      if (kind === "publish") await publish("room", "seen").catch(() => {});
      render(kind);
      return <Shown />;
    });
    export const room = page("/room", async () => <Room feed={await channel<string>("room")} />);
    export const report = route("GET /boards/export", () => { render("export"); return new Response("report"); });
    export const renders = route("GET /renders", () => Response.json(data.renders));`,
  "src/views.tsx": `
    import { type Feed, on_mount, state, subscribe, view } from "tsweb/browser";
    import { change, count, enter, leave, say } from "./functions.server.ts";
    export const Panel = view(() => {
      const shown = state({ done: 0 });
      const button = (id: string, run: () => Promise<unknown>) => (
        <button id={id} type="button" onClick={async () => { await run(); shown.done++; }}>{id}</button>
      );
      on_mount(() => { document.documentElement.dataset.ready = "yes"; });
      return (
        <section>
          {button("change", change)}{button("enter", enter)}{button("leave", leave)}{button("say", () => say("hello"))}
          {button("count", async () => { for await (const _ of count()); })}
          <p id="done">{shown.done}</p>
        </section>
      );
    });
    export const Room = view(({ feed }: { feed: Feed<string> }) => {
      const shown = state({ messages: [] as string[] });
      on_mount(() => subscribe(feed, (message) => shown.messages.push(message)));
      return <p id="messages">{shown.messages.join()}</p>;
    });`,
  ...LATE_VIEWS,
};

/** Writes the application, and builds it. The caller has to remove it. */
export async function buildShop(): Promise<TestProject> {
  const project = TestProject.fromFiles(FILES);
  await buildOnce(project.dir, "shop");
  return project;
}
