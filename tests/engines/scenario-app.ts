/**
 * An application for the scenarios, behind a proxy that can hold scripts back, refuse event streams, and change its server.
 */
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as functions from "./functions.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Scenarios", modules: [functions, pages], rate: false, on_error: () => console.log("on_error") });`,
  "src/functions.server.ts": `
    import { publish, RPCError, redirect, request, server } from "tsweb";
    export const open = { streams: 0, calls: 0, values: 0 };
    export const save = server((text: string, note: string, color: string, agree = false) => {
      if (text === "refuse") throw new RPCError("conflict", "Refused.", { parameter: "text" });
      return [text, note, color, agree].join("|");
    });
    export const fail = server(() => { throw new RPCError("forbidden", "Not here."); });
    export const leave = server(() => redirect("/done?from=leave"));
    export const upload = server((file: File) => file.name + " " + file.size);
    export const wait = server(async () => {
      open.calls++;
      await new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
    });
    export const open_calls = server(() => open.calls);
    export const streamed_values = server(() => open.values);
    export const open_streams = server(() => open.streams);
    export const count = server(async function* (to: number) {
      open.streams++;
      try {
        for (let n = 1; n <= to; n++) {
          open.values++;
          yield n;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        if (to === 3) throw new RPCError("conflict", "Broken.");
      } finally { open.streams--; }
    });
    export const say = server((text: string) => publish("room", text));`,
  "src/pages.server.tsx": `
    import { channel, form, page, redirect } from "tsweb";
    import { leave, save, upload } from "./functions.server.ts";
    import { Counter, Room, Stream, ViewForm, ViewUpload } from "./views.tsx";
    export const plain = page("/form", () => {
      const saving = form(save);
      return (
        <form action={saving}>
          <input name="text" id="text" />
          <textarea name="note" id="note" />
          <select name="color" id="color"><option>red</option><option>blue</option></select>
          <input name="agree" id="agree" type="checkbox" />
          <output>{saving.error?.message ?? (saving.result ? "saved " + saving.result : "")}</output>
          <button id="save">Save</button>
        </form>
      );
    });
    export const uploading = page("/upload", () => {
      const sending = form(upload);
      return (
        <form action={sending}>
          <input name="file" id="file" type="file" />
          <output>{sending.result ?? ""}</output>
          <button id="send">Send</button>
        </form>
      );
    });
    export const leaving = page("/leave", () => <form action={leave}><button id="leave">Leave</button></form>);
    export const moved = page("/moved", () => redirect("/done?from=moved"));
    export const done = page("/done", () => <main>done <a id="next" href="/counter">next</a></main>);
    export const counter = page("/counter", () => <Counter />);
    export const view_form = page("/view-form", () => <ViewForm />);
    export const view_upload = page("/view-upload", () => <ViewUpload />);
    export const stream = page("/stream", () => <Stream />);
    export const live = page("/live", async () => <Room feed={await channel<string>("room")} />);`,
  "src/views.tsx": `
    import { type Feed, form, on_mount, state, subscribe, view } from "tsweb/browser";
    import { count, fail, leave, save, say, upload, wait } from "./functions.server.ts";
    const useReady = () => on_mount(() => { document.documentElement.dataset.ready = "yes"; });
    export const Counter = view(() => {
      useReady();
      const s = state({ n: 0, early: 0, text: "", items: [] as string[], message: "" });
      const call = async () => { try { await fail(); } catch (error) { s.message = (error as Error).message; } };
      return (
        <main>
          <button id="add" onClick={() => s.n++}>{s.n}</button>
          <button id="early" type="button" onClick={() => s.early++}>{s.early}</button>
          <input id="text" value={s.text} onInput={(event) => { s.text = event.currentTarget.value; }} />
          <p id="echo">{s.text}</p>
          <button id="push" onClick={() => s.items.push("item" + s.items.length)}>push</button>
          <ul>{s.items.map((item) => <li key={item}>{item}</li>)}</ul>
          <button id="fail" onClick={call}>fail</button>
          <button id="leave" onClick={() => leave()}>leave</button>
          <p id="message">{s.message}</p>
          <a id="away" href="/done">away</a>
        </main>
      );
    });
    export const ViewForm = view(() => {
      useReady();
      const saving = form(save);
      return (
        <form action={saving}>
          <input name="text" id="text" />
          <textarea name="note" id="note" />
          <select name="color" id="color"><option>red</option><option>blue</option></select>
          <input name="agree" id="agree" type="checkbox" />
          <output>{saving.error?.message ?? (saving.result ? "saved " + saving.result : "")}</output>
          <button id="save" disabled={saving.pending}>Save</button>
        </form>
      );
    });
    export const ViewUpload = view(() => {
      useReady();
      const sending = form(upload);
      return (
        <form action={sending}>
          <input name="file" id="file" type="file" />
          <output>{sending.result ?? ""}</output>
          <button id="send">Send</button>
        </form>
      );
    });
    export const Stream = view(() => {
      useReady();
      const s = state({ last: 0, message: "" });
      let running: ReturnType<typeof count> | undefined;
      const fail = (error: unknown) => {
        s.message = (error as Error).message;
        sessionStorage.errors = (sessionStorage.errors ?? "") + s.message;
      };
      const start = async (to: number) => {
        s.message = "running";
        running = count(to);
        try {
          for await (const n of running) s.last = n;
          s.message = "ended";
        } catch (error) { fail(error); }
      };
      const call = async () => { try { await wait(); } catch (error) { fail(error); } };
      on_mount(() => { Object.assign(globalThis, { stop: () => running?.cancel() }); });
      return (
        <main>
          <button id="short" onClick={() => start(5)}>short</button>
          <button id="broken" onClick={() => start(3)}>broken</button>
          <button id="long" onClick={() => start(100000)}>long</button>
          <button id="wait" onClick={call}>wait</button>
          <a id="away" href="/done">away</a>
          <a id="late" href="/done?late">late</a>
          <p id="last">{s.last}</p><p id="message">{s.message}</p>
        </main>
      );
    });
    export const Room = view(({ feed }: { feed: Feed<string> }) => {
      const s = state({ texts: [] as string[] });
      on_mount(() => subscribe(feed, (text) => s.texts.push(text)));
      useReady();
      return (
        <main>
          <p id="texts">{s.texts.join()}</p>
          <button id="say" onClick={() => say("hello")}>say</button>
        </main>
      );
    });`,
};

const ENV = { WEB_ENV: "development", WEB_AUTH_SECRET: "3c".repeat(32), WEB_TRUST_PROXY: "1" };

/** The running application. */
export class ScenarioApp {
  /** Whether the proxy answers event streams with 502, as a proxy that cannot stream. */
  refusesStreams = false;
  /** The number of event streams that are open. */
  openEventStreams = 0;
  #running: RunningServer;
  readonly #project: TestProject;
  readonly #proxy: Server;
  #released: Promise<void> = Promise.resolve();
  #nextPage: Promise<void> = Promise.resolve();
  #lateRequests = 0;

  private constructor(project: TestProject, running: RunningServer) {
    this.#project = project;
    this.#running = running;
    this.#proxy = createServer(async (incoming, outgoing) => {
      const { url = "/", method, headers } = incoming;
      if (url.startsWith("/__web/live")) {
        if (this.refusesStreams) return void outgoing.writeHead(502).end();
        this.openEventStreams++;
        outgoing.on("close", () => this.openEventStreams--);
      }
      if (url.includes(".js")) await this.#released;
      if (url.endsWith("?late")) {
        this.#lateRequests++;
        await this.#nextPage;
      }
      const forwarded = request(this.#running.address + url, { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      });
      const abort = () => outgoing.destroy();
      forwarded.on("error", abort).on("response", (response) => response.on("error", abort));
      outgoing.on("close", () => forwarded.destroy());
      incoming.pipe(forwarded);
    });
  }

  /** Builds and starts the application. The caller calls {@link close}. */
  static async open(): Promise<ScenarioApp> {
    const project = TestProject.fromFiles(FILES);
    project.write("public/favicon.ico", "");
    await buildOnce(project.dir, "engines");
    const app = new ScenarioApp(project, await startBuilt(project.dir, ENV));
    await new Promise<void>((resolve) => app.#proxy.listen(0, "127.0.0.1", resolve));
    return app;
  }

  /** The address of the proxy. */
  get address(): string {
    const { port } = this.#proxy.address() as AddressInfo; // it listens on a port
    return `http://localhost:${port}`;
  }

  /** Holds the scripts of pages back until the returned function is called. */
  holdScripts(): () => void {
    let release = () => {};
    this.#released = new Promise<void>((resolve) => {
      release = resolve;
    });
    return release;
  }

  /** Holds the page back to which `#late` leads, until the returned function is called. */
  holdNextPage(): { release(): void; isRequested(): boolean } {
    let release = () => {};
    this.#nextPage = new Promise<void>((resolve) => {
      release = resolve;
    });
    const before = this.#lateRequests;
    return { release, isRequested: () => this.#lateRequests > before };
  }

  /** Returns the output of the server so far. */
  output(): string {
    return this.#running.output();
  }

  /** Calls a function, as a script does. Returns its result. */
  async call(name: string, args: object): Promise<unknown> {
    const response = await fetch(`${this.#running.address}/__web/rpc/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ args }),
    });
    const { result } = (await response.json()) as { result: unknown }; // these functions succeed
    return result;
  }

  /** Kills the server, and starts another one behind the proxy. */
  async replaceServer(): Promise<void> {
    this.#running.signal("SIGKILL");
    await this.#running.exited;
    this.#running = await startBuilt(this.#project.dir, ENV);
  }

  async close(): Promise<void> {
    this.#proxy.closeAllConnections();
    this.#proxy.close();
    await this.#running.stop();
    this.#project.remove();
  }
}
