/**
 * Two builds of one application, each served by a process, behind a proxy that sends each request to one of them, with users
 * in Chromium, for one test file.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { BrowserUsers } from "#test/browser-users";
import { type RunningServer, runTsweb, startBuilt } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

const APP = `
  import { App } from "tsweb";
  import * as functions from "./functions.server.ts";
  import * as pages from "./pages.server.tsx";
  export default new App({ title: "Deployment", modules: [functions, pages], rate: false });`;

const PAGES = (version: string, forms: string, view: string) => `
  import { page } from "tsweb";
  import * as functions from "./functions.server.ts";
  import { ${view} } from "./${view.toLowerCase()}.tsx";
  const Page = ({ children }) => <main><h1>${version}</h1>{children}</main>;
  export const index = page("/", () => <Page><${view} /></Page>);
  export const plain = page("/plain", () => <Page>${forms}</Page>);`;

const TOOLS = (view: string, names: readonly string[], form: string) => `
  import { form, on_mount, state, view } from "tsweb/browser";
  import { ${names.join(", ")} } from "./functions.server.ts";
  export const ${view} = view(() => {
    const shown = state({ outcome: "", isHydrated: false });
    on_mount(() => {
      shown.isHydrated = true;
    });
    const save = form(${form});
    const run = (call: () => Promise<unknown>) => async () => {
      shown.outcome = "waiting";
      shown.outcome = await call().then(String, (error) => error.code + " " + error.details?.stale);
    };
    return (
      <>
        ${names.map((name) => `<button type="button" disabled={!shown.isHydrated} onClick={run(() => ${name}("a"))}>${name}</button>`).join("\n")}
        <button type="button" disabled={!shown.isHydrated} onClick={run(async () => (await import("./lazy.ts")).lazy)}>lazy</button>
        <output>{shown.outcome}</output>
        <input id="draft" />
        <form action={save}>
          <input name="text" />
          <p>{save.error?.message}{save.result}</p>
          <button>send</button>
        </form>
      </>
    );
  });`;

const FIRST = {
  "src/app.ts": APP,
  "src/functions.server.ts": `
    import { server } from "tsweb";
    export const unchanged = server((text: string) => "first " + text);
    export const changed = server((text: string) => "first " + text);
    export const removed = server((text: string) => "first " + text);`,
  "src/pages.server.tsx": PAGES(
    "first",
    `<form action={functions.changed}><input name="text" /><input name="note" /><button>change</button></form>
     <form action={functions.removed}><textarea name="essay" /><input name="text" /><button>remove</button></form>
     <form action={functions.unchanged}><input name="text" /><button>keep</button></form>`,
    "Tools",
  ),
  "src/tools.tsx": TOOLS("Tools", ["unchanged", "changed", "removed"], "changed"),
  "src/lazy.ts": `export const lazy: string = "lazy first";`,
};

const SECOND = {
  "src/app.ts": APP,
  "src/functions.server.ts": `
    import { server, type int } from "tsweb";
    /** Has another body and another comment, but the same signature. */
    export const unchanged = server(async (text: string) => "second " + text);
    export const changed = server((text: string, count: int) => "second " + text + count);
    export const added = server((text: string) => "second " + text);`,
  "src/pages.server.tsx": PAGES(
    "second",
    `<form action={functions.changed}><input name="text" /><input name="count" type="number" /><button>change</button></form>
     <form action={functions.unchanged}><input name="text" /><button>keep</button></form>`,
    "Board",
  ),
  "src/board.tsx": TOOLS("Board", ["unchanged", "changed", "added"], "changed"),
  "src/lazy.ts": `export const lazy: string = "lazy second";`,
};

/** One of the two builds. */
export type Build = "first" | "second";

/** Returns the build whose process handles a request. */
export type Router = (path: string, request: IncomingMessage) => Build;

const ENV = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };

/** The running application. */
export class DeploymentApp {
  readonly users: BrowserUsers;
  /** The calls and forms that were refused because of their build: the build of the server for each. */
  readonly refused: Build[] = [];
  /** Selects the process for each request. Tests replace it. */
  route: Router = () => "first";
  readonly servers: Readonly<Record<Build, RunningServer>>;
  readonly #projects: readonly TestProject[];
  readonly #browser: Browser;
  readonly #proxy: Server;

  private constructor(
    projects: readonly TestProject[],
    servers: Readonly<Record<Build, RunningServer>>,
    browser: Browser,
  ) {
    this.#projects = projects;
    this.servers = servers;
    this.#browser = browser;
    this.#proxy = createServer((request, response) => {
      const build = this.route(request.url ?? "", request);
      const { port } = new URL(servers[build].address);
      const { method, url: path, headers } = request;
      const forwarded = sendRequest({ host: "127.0.0.1", port, method, path, headers }, (received) => {
        if (received.headers["x-build"]) this.refused.push(build);
        response.writeHead(received.statusCode ?? 502, received.headers);
        received.pipe(response);
      });
      forwarded.on("error", () => response.destroy());
      request.pipe(forwarded);
    });
    this.users = new BrowserUsers(browser, {});
  }

  /** Builds and starts both. The second build takes over the assets of the first one. The caller calls {@link close}. */
  static async open(): Promise<DeploymentApp> {
    const projects = [TestProject.fromFiles(FIRST), TestProject.fromFiles(SECOND)] as const;
    for (const project of projects) project.write("public/favicon.ico", "");
    const [first, second] = projects;
    await buildWith(first, []);
    await buildWith(second, ["--keep-from", join(first.dir, "dist")]);
    const [browser, ...servers] = await Promise.all([
      launch(),
      startBuilt(first.dir, ENV),
      startBuilt(second.dir, ENV),
    ]);
    const app = new DeploymentApp(projects, { first: servers[0], second: servers[1] }, browser);
    await new Promise<void>((resolve) => app.#proxy.listen(0, "127.0.0.1", resolve));
    return app;
  }

  /** Returns the URL of a path behind the proxy. */
  url(path: string): string {
    return `http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}${path}`; // a string for pipes only
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#proxy.close();
    await Promise.all(Object.values(this.servers).map((server) => server.stop()));
    for (const project of this.#projects) project.remove();
  }
}

async function buildWith({ dir }: TestProject, options: readonly string[]): Promise<void> {
  const { code, output } = await runTsweb(dir, ["build", ...options]);
  if (code !== 0) throw new Error(`tsweb build failed:\n${output}`);
}
