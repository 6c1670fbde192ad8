/**
 * The commands end when they are done, whatever an application keeps open; and what they tell of a
 * project.
 */
import { afterEach, describe, expect, it } from "vitest";
import { type Running, runTsweb, startDev } from "#test/run-tsweb";
import { Site } from "#test/site";

const PING = 'import { server } from "tsweb";\nexport const ping = server(() => "pong");\n';
const APP =
  'import { App } from "tsweb";\nimport * as ping from "./ping.server.ts";\nexport default new App({ modules: [ping] });\n';

/** A database, as far as a process can tell: it is never done. */
const OPEN = "setInterval(() => undefined, 1_000);\n";

let site: Site | undefined;
let dev: Running | undefined;
afterEach(async () => {
  await dev?.stop();
  site?.remove();
  dev = site = undefined;
});

const siteOf = (app: string, more: Readonly<Record<string, string>> = {}) => {
  site = Site.of({ "src/app.ts": app, "src/ping.server.ts": PING, ...more });
  return site;
};

describe("a command ends", () => {
  it.each(["routes", "openapi"])("%s, when it has told what was asked", async (command) => {
    const { code, output } = await runTsweb(siteOf(OPEN + APP).dir, [command]);
    expect(output).toContain("ping");
    expect(code).toBe(0);
  });

  it.each(["routes", "openapi"])("%s, when the application cannot be loaded", async (command) => {
    const { code, output } = await runTsweb(siteOf(`${OPEN}throw new Error("no such table");\n`).dir, [command]);
    expect(output).toContain("no such table");
    expect(code).toBe(1);
  });

  it("build, when it has built", async () => {
    const config = { "vite.config.ts": `${OPEN}export default {};\n` };
    const { code, output } = await runTsweb(siteOf(APP, config).dir, ["build"]);
    expect(output).toContain("Built into dist");
    expect(code).toBe(0);
  });

  it("build, when it cannot", async () => {
    const config = { "vite.config.ts": `${OPEN}export default {};\n` };
    const { code, output } = await runTsweb(siteOf("const app = 1;\n", config).dir, ["build"]);
    expect(output).toContain("default export");
    expect(code).toBe(1);
  });

  it("serve, when what was built cannot be loaded", async () => {
    const { dir } = siteOf(APP);
    await runTsweb(dir, ["build"]);
    site?.write("dist/app.mjs", `${OPEN}throw new Error("no such table");\n`);
    const { code, output } = await runTsweb(dir, ["serve"]);
    expect(output).toContain("no such table");
    expect(code).toBe(1);
  });
});

it("the development server's OpenAPI document has the project's version", async () => {
  const project = '{ "name": "site", "private": true, "type": "module", "version": "3.2.1" }\n';
  dev = await startDev(siteOf(APP, { "package.json": project }).dir);
  const response = await fetch(`${dev.address}/__web/openapi.json`);
  expect((await response.json()).info.version).toBe("3.2.1");
});
