/**
 * Static pages in Chromium from a file server that knows nothing of tsweb: nginx, with the headers that the build has written.
 * @see docs/navigation.md
 */
import { cpSync, readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { BrowserUsers } from "#test/browser-users";
import { Nginx } from "#test/nginx";
import { build } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch, styleOf } from "./chromium.ts";

const files = (base: string) => ({
  "src/app.ts": `
    import { App } from "tsweb";
    import * as pages from "./pages.server.tsx";
    export default new App({ base: ${JSON.stringify(base)}, modules: [pages], transitions: true });`,
  "src/pages.server.tsx": `
    import { Head, Later, page } from "tsweb";
    import { Counter, LateCounter } from "./views.tsx";
    import "./page.css";
    const Icon = () => <Head><link rel="icon" href="data:," /></Head>;
    export const home = page("/", { static: true }, () => <main><Icon />
      <a id="guide" href={guide.href({ name: "first" })}>guide</a> <a id="home" href={home.href()}>home</a><Counter /><LateCounter />
    </main>);
    export const guide = page("/guides/:name", { static: true, params: () => [{ name: "first" }] }, ({ name }) => (
      <main><Icon /><a id="home" href={home.href()}>home</a><Later>{async () => <p id="text">the {name} guide</p>}</Later></main>
    ));`,
  "src/page.css": "main { color: rgb(1, 2, 3); }",
  "src/views.tsx": `
    import { state, view } from "tsweb/browser";
    export const Counter = view(() => {
      const shown = state({ count: 0 });
      return <button id="now" type="button" onClick={() => shown.count++}>{shown.count}</button>;
    });
    export const LateCounter = view({ hydrate: "visible" }, () => {
      const shown = state({ count: 0 });
      return <button id="late" type="button" onClick={() => shown.count++}>{shown.count}</button>;
    });`,
});

/** Reads `_headers`: the headers of each path. */
function readHeaders(text: string): Map<string, [name: string, value: string][]> {
  const paths = new Map<string, [string, string][]>();
  for (const block of text.split("\n\n")) {
    const [path = "", ...lines] = block.trimEnd().split("\n");
    paths.set(
      path,
      lines.map((line) => {
        const [, name = "", value = ""] = /^ {2}([^:]+): (.*)$/.exec(line) ?? [];
        return [name, value];
      }),
    );
  }
  return paths;
}

/** Returns a site of nginx that serves the files of a folder with these headers. */
function fileServer(root: string, paths: ReturnType<typeof readHeaders>) {
  const quoted = (text: string) => (text.includes('"') ? `'${text}'` : `"${text}"`);
  const locations = [...paths].map(([path, headers]) => {
    const type = headers.find(([name]) => name === "content-type")?.[1];
    const others = headers.filter(([name]) => name !== "content-type");
    return `location = ${path} {
      ${type === undefined ? "" : `types {} default_type ${quoted(type)};`}
      ${others.map(([name, value]) => `add_header ${name} ${quoted(value)};`).join("\n      ")}
      try_files $uri $uri.html $uri/index.html =404;
    }`;
  });
  return (port: number) => `server {
    listen 127.0.0.1:${port};
    include /etc/nginx/mime.types;
    root ${root};
    ${locations.join("\n    ")}
  }`;
}

describe.each(["", "/shop"])("static pages below %j in a file server", (base) => {
  let project: TestProject;
  let browser: Browser;
  let nginx: Nginx;
  let headers: ReturnType<typeof readHeaders>;

  beforeAll(async () => {
    project = TestProject.fromFiles(files(base));
    [browser] = await Promise.all([launch(), build(project.dir)]);
    cpSync(project.file("dist/client"), project.file(`site${base}`), { recursive: true });
    headers = readHeaders(readFileSync(project.file("dist/client/_headers"), "utf8"));
    nginx = await Nginx.start({ ports: [], site: fileServer(project.file("site"), headers) });
  });

  afterAll(async () => {
    await browser?.close();
    await nginx?.stop();
    project?.remove();
  });

  it("have the headers that the server of tsweb sends, and so have the files to which these refer [STATIC-4]", async () => {
    const app = await AppProcess.start(project.dir, sharedEnv());
    try {
      const [rules = ""] = [...headers.keys()].filter((path) => path.includes("/speculation-"));
      for (const path of [base || "/", `${base}/guides/first`, rules]) {
        const [own, other] = await Promise.all([app.address, nginx.address].map((address) => fetch(address + path)));
        expect([path, other?.status, await other?.text()]).toEqual([path, 200, await own?.text()]);
        for (const [name] of headers.get(path) ?? []) {
          expect([path, name, other?.headers.get(name)]).toEqual([path, name, own?.headers.get(name)]);
        }
      }
      const page = await fetch(nginx.address + (base || "/"));
      expect(page.headers.get("speculation-rules")).toBe(JSON.stringify(rules));
      expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    } finally {
      await app.stop();
    }
  });

  it("are complete: their styles, views and parts work, and Chromium prefetches their links", async () => {
    const users = new BrowserUsers(browser, { baseURL: nginx.address });
    const page = await users.newPage();
    await page.goto(base || "/");
    expect(await styleOf(page, "main", "color")).toBe("rgb(1, 2, 3)");
    for (const id of ["now", "late"]) {
      await expect
        .poll(async () => {
          await page.click(`#${id}`);
          return Number(await page.textContent(`#${id}`));
        })
        .toBeGreaterThan(0);
    }
    const isPrefetched = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/guides/first"));
    await page.hover("#guide");
    await isPrefetched;
    await page.click("#guide");
    await page.locator("#text").waitFor();
    expect(await page.textContent("#text")).toBe("the first guide");
    const [navigation] = await page.evaluate(() =>
      performance.getEntriesByType("navigation").map((entry) => entry.toJSON()),
    );
    expect(navigation.deliveryType).toBe("navigational-prefetch");
    await page.click("#home");
    await page.locator("#now").waitFor();
    await users.closeAll();
    expect(users.problems).toEqual([]);
  });
});
