/**
 * The Vite config and the files of environment variables while `tsweb dev` runs: they are created, changed, broken and
 * deleted. One server runs through all tests, on one port.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSocket, readUntil } from "#test/raw-http";
import { type RunningServer, runTsweb, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

/** A random text, which no client may receive. */
const SECRET = `secret-${randomBytes(8).toString("hex")}`;

const APP =
  'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nexport default new App({ modules: [pages] });\n';

const FILES = {
  "src/app.ts": APP,
  "src/pages.server.tsx":
    'import { page } from "tsweb";\nimport { Label } from "./label.tsx";\ndeclare const __LABEL__: string;\n' +
    'const label = typeof __LABEL__ === "string" ? __LABEL__ : "none";\n' +
    "const { REAL, FIRST, SECOND, THIRD } = process.env;\n" +
    'export const home = page("/", () => <main><p>{JSON.stringify({ label, REAL, FIRST, SECOND, THIRD })}</p><Label /></main>);\n',
  "src/label.tsx":
    'import { view } from "tsweb/browser";\n' +
    "export const Label = view(() => <p>{JSON.stringify(import.meta.env)}</p>);\n",
  ".env": `REAL=file\nFIRST=env\nSECOND=env\nVITE_SECRET=${SECRET}\nPUBLIC_NAME=shop\n`,
  ".env.local": "SECOND=local\n",
};

let project: TestProject;
let dev: RunningServer;

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  dev = await startDev(project.dir, { REAL: "real" });
});

afterAll(async () => {
  const code = await dev?.stop();
  const output = dev?.output();
  project?.remove();
  expect(code).toBe(0);
  expect(output).not.toContain(SECRET);
});

const remove = (file: string) => rmSync(project.file(file));

/** Returns what the page shows; `null` while it shows an error. */
async function shown(): Promise<Record<string, string> | null> {
  const html = await (await fetch(dev.address)).text();
  const [, json] = /<main><p>([^<]*)<\/p>/.exec(html) ?? [];
  return json === undefined ? null : JSON.parse(json.replaceAll("&quot;", '"'));
}

const label = async () => (await shown())?.label;

/** Returns how often the output has a text. */
const count = (text: string | RegExp) => dev.output().split(text).length - 1;

/**
 * Opens the WebSocket of edits as a page does. Resolves with the first message, which is sent once. Rejects if Vite is
 * restarted meanwhile.
 */
async function connect(): Promise<string> {
  const { host } = new URL(dev.address);
  const client = await (await fetch(`${dev.address}/__web/dev/@vite/client`)).text();
  const [, token = ""] = /wsToken = "([^"]+)"/.exec(client) ?? [];
  const socket = await openSocket(dev.address);
  const received = readUntil(socket, /"connected"/);
  socket.write(
    `GET /__web/dev/?token=${token} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${dev.address}\r\nConnection: Upgrade\r\n` +
      "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
      "Sec-WebSocket-Protocol: vite-hmr\r\n\r\n",
  );
  const text = await received;
  socket.destroy();
  return text;
}

describe("the variables of .env and .env.local", () => {
  it("are set when tsweb dev starts: .env.local takes precedence over .env, and the real environment over both", async () => {
    expect(await shown()).toEqual({ label: "none", REAL: "real", FIRST: "env", SECOND: "local" });
  });

  it("reach no browser, whatever their name [DEV-23]", async () => {
    await fetch(dev.address);
    for (const path of ["/", "/__web/dev/src/label.tsx", "/__web/dev/@vite/client"]) {
      const response = await fetch(dev.address + path);
      const text = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain("PUBLIC_NAME");
    }
  });

  it("are set again after a change, and deleted with their line or file", async () => {
    project.write(".env.local", "SECOND=changed\nTHIRD=new\n");
    await expect.poll(shown).toEqual({ label: "none", REAL: "real", FIRST: "env", SECOND: "changed", THIRD: "new" });
    remove(".env.local");
    await expect.poll(shown).toEqual({ label: "none", REAL: "real", FIRST: "env", SECOND: "env" });
    project.write(".env.local", "FIRST=created\n");
    // A page that is opened during the restart receives its scripts.
    const statuses = new Set<number>();
    let isRestarted = false;
    const requests = (async () => {
      while (!isRestarted) {
        statuses.add((await fetch(`${dev.address}/__web/dev/src/label.tsx?t=${Date.now()}`)).status);
        await sleep(5); // a restart takes much longer
      }
    })();
    await expect.poll(shown).toEqual({ label: "none", REAL: "real", FIRST: "created", SECOND: "env" });
    isRestarted = true;
    await requests;
    expect([...statuses]).toEqual([200]);
  });

  it("are read again by the application, and do not replace those of the real environment", async () => {
    project.write(".env.local", "FIRST=mode\nWEB_AUTH_SECRET=short\n");
    await expect.poll(async () => (await fetch(dev.address)).status).toBe(500); // the application reads it again
    project.write(".env.local", "FIRST=mode\nPORT=1\nWEB_ENV=development\n");
    await expect.poll(async () => (await shown())?.FIRST).toBe("mode");
    expect(dev.output()).not.toContain("PORT changed"); // the real environment has it
  });
});

describe("HOST in a file of variables", () => {
  it("applies to a server that starts, and the terminal prints that a later change does not", async () => {
    const other = TestProject.fromFiles({
      "src/app.ts": APP.replace(/import \* as.*\n/, "").replace("pages", ""),
      ".env": "HOST=127.0.0.2\n",
    });
    const server = await startDev(other.dir, { HOST: undefined });
    expect(server.address).toContain("//127.0.0.2:");
    other.write(".env", "HOST=127.0.0.3\n");
    await expect
      .poll(() => server.output())
      .toContain("HOST changed. Start tsweb dev again for the change to take effect.");
    expect((await fetch(`${server.address}/healthz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
    other.remove();
  });
});

describe("a Vite config", () => {
  const config = (text: string) => `export default { define: { __LABEL__: JSON.stringify("${text}") } };\n`;

  it("takes effect when it is created, changed and deleted while tsweb dev runs", async () => {
    project.write("vite.config.ts", config("created"));
    await expect.poll(label).toBe("created");
    project.write("vite.config.ts", config("changed"));
    await expect.poll(label).toBe("changed");
    remove("vite.config.ts");
    await expect.poll(label).toBe("none");
    project.write("vite.config.mjs", config("created again"));
    await expect.poll(label).toBe("created again");
    remove("vite.config.mjs");
    await expect.poll(label).toBe("none");
    await expect.poll(connect).toContain('{"type":"connected"}');
  });

  it("takes effect when it changes while Vite restarts, and requests during the restart are responded to after it", async () => {
    // These wait until a file exists: while Vite reads the config, and while it closes.
    const slow = (text: string) =>
      `import { existsSync } from "node:fs";
const until = async (file) => {
  console.log("waits for " + file);
  while (!existsSync(new URL(file, import.meta.url))) await new Promise((resolve) => setTimeout(resolve, 10));
};
const closeBundle = () => until("${text}-closed");
await until("${text}-read");
export default { define: { __LABEL__: '"${text}"' }, plugins: [{ name: "slow", closeBundle }] };\n`;
    project.write("vite.config.ts", slow("first"));
    await expect.poll(dev.output).toContain("waits for first-read");
    const restarts = count("Restarting …");
    project.write("vite.config.ts", slow("second"));
    await expect.poll(() => count("Restarting …")).toBeGreaterThan(restarts);
    project.write("first-read", "");
    await expect.poll(dev.output).toContain("waits for second-read");
    expect(await label()).toBe("first");
    project.write("second-read", "");
    await expect.poll(dev.output).toContain("waits for first-closed");
    const requested = label();
    project.write("first-closed", "");
    expect(await requested).toBe("second");
    project.write("second-closed", "");
    await expect.poll(connect).toContain('{"type":"connected"}');
    project.write("vite.config.ts", config("third"));
    await expect.poll(label).toBe("third");
    remove("vite.config.ts");
    await expect.poll(label).toBe("none");
    await expect.poll(connect).toContain('{"type":"connected"}');
  });

  it.each([
    ["a syntax error", "export default {", "vite.config.ts"],
    ["an error that it throws", 'throw new Error("Thrown by the config");', "Thrown by the config"],
    [
      "an error that a plugin throws after Vite has begun to listen",
      'export default { plugins: [{ name: "x", configureServer() { throw new Error("Thrown by the plugin"); } }] };',
      "Thrown by the plugin",
    ],
    [
      "tsweb() in it",
      'import { tsweb } from "tsweb/vite";\nexport default { plugins: [tsweb()] };',
      "vite.config.ts adds the plugin tsweb(), which tsweb dev and tsweb build add by themselves. Remove it there.",
    ],
  ])("with %s is reported, and the server continues with the previous one", async (_what, text, message) => {
    project.write("vite.config.ts", config("before"));
    await expect.poll(label).toBe("before");
    const before = [count(message), count("continues with the previous Vite config")] as const;
    project.write("vite.config.ts", text);
    await expect.poll(() => count("continues with the previous Vite config")).toBeGreaterThan(before[1]);
    await expect.poll(() => count(message)).toBeGreaterThan(before[0]); // the file may have been read when it was empty
    expect(await label()).toBe("before");
    await expect.poll(connect).toContain('{"type":"connected"}');
    project.write("vite.config.ts", config("after"));
    await expect.poll(label).toBe("after");
    await expect.poll(connect).toContain('{"type":"connected"}');
  });

  it("with options that have no effect is reported once, and without a warning of Vite about the server's own options", async () => {
    const server = "server: { port: 4000, hmr: { overlay: false } }";
    project.write("vite.config.ts", `export default { base: "/a/", ${server}, define: { __LABEL__: '"base"' } };\n`);
    await expect.poll(label).toBe("base");
    project.write("vite.config.ts", `export default { base: "/a/", ${server}, define: { __LABEL__: '"again"' } };\n`);
    await expect.poll(label).toBe("again");
    expect(count("vite.config.ts: base has no effect in tsweb.")).toBe(1);
    expect(count("vite.config.ts: server.port has no effect in tsweb. Set the environment variable PORT,")).toBe(1);
    expect(dev.output()).not.toContain("deprecated");
    await expect.poll(connect).toContain('{"type":"connected"}');
    project.write("vite.config.ts", config("after"));
    await expect.poll(label).toBe("after");
  });

  it("takes effect once the mistake in a file that it imports is fixed", async () => {
    project.write("label.mjs", 'throw new Error("Thrown by an import");\nexport default "";\n');
    project.write(
      "vite.config.ts",
      'import label from "./label.mjs";\nexport default { define: { __LABEL__: label } };\n',
    );
    await expect.poll(() => count("Thrown by an import")).toBeGreaterThan(0);
    expect(await label()).toBe("after");
    project.write("label.mjs", "export default '\"imported\"';\n");
    await expect.poll(label).toBe("imported");
  });

  it("that is broken when it is created is reported, and takes effect once it is fixed", async () => {
    remove("vite.config.ts");
    await expect.poll(label).toBe("none");
    project.write("vite.config.ts", 'throw new Error("Created broken");');
    await expect.poll(() => count("Created broken")).toBeGreaterThan(0);
    expect(await label()).toBe("none");
    project.write("vite.config.ts", config("fixed"));
    await expect.poll(label).toBe("fixed");
  });

  it("can name the prefix of variables that browsers receive, and they receive no others", async () => {
    project.write("vite.config.ts", 'export default { envPrefix: "PUBLIC_" };\n');
    const view = async () => {
      await fetch(dev.address);
      return (await fetch(`${dev.address}/__web/dev/src/label.tsx`)).text();
    };
    await expect.poll(view).toContain('"PUBLIC_NAME": "shop"');
    expect(await view()).not.toContain(SECRET);
  });

  it("with tsweb() fails the build, with the fix", async () => {
    const other = TestProject.fromFiles({
      "src/app.ts": 'import { App } from "tsweb";\nexport default new App({ modules: [] });\n',
      "vite.config.ts": 'import { tsweb } from "tsweb/vite";\nexport default { plugins: [tsweb()] };\n',
    });
    const { code, output } = await runTsweb(other.dir, ["build"]);
    other.remove();
    expect(code).toBe(1);
    expect(output.trim()).toBe(
      "vite.config.ts adds the plugin tsweb(), which tsweb dev and tsweb build add by themselves. Remove it there. If " +
        "tests need it, add it to vitest.config.ts.",
    );
  });
});

describe("the paths of tsconfig.json", () => {
  it("take effect when they change while tsweb dev runs", async () => {
    const alias = (file: string) =>
      project.write(
        "tsconfig.json",
        JSON.stringify({ compilerOptions: { paths: { label: [file] } }, include: ["src"] }),
      );
    project.write("src/one.ts", 'export const label = "one";\n');
    project.write("src/two.ts", 'export const label = "two";\n');
    alias("./src/one.ts");
    project.edit(
      "src/pages.server.tsx",
      /^const label .*$/m.exec(project.read("src/pages.server.tsx"))?.[0] ?? "",
      'import { label } from "label";',
    );
    await expect.poll(label).toBe("one");
    alias("./src/two.ts");
    await expect.poll(label).toBe("two");
  });

  it("are reported if the file is not valid JSON, without unhandled rejections for the scripts of open pages", async () => {
    const before = await label();
    const valid = project.read("tsconfig.json");
    project.write("tsconfig.json", valid.replace("{", "{ tru "));
    await expect.poll(async () => (await fetch(dev.address)).status).toBe(500);
    for (let requests = 0; requests < 3; requests++) await fetch(`${dev.address}/__web/dev/@vite/client`);
    // While Vite restarts, a page shows that instead. An edit that follows at once would replace the message.
    const reports = async () => {
      await fetch(dev.address);
      return count("This file is not valid JSON");
    };
    await expect.poll(reports).toBeGreaterThan(0);
    project.write("tsconfig.json", valid);
    await expect.poll(async () => (await fetch(dev.address)).status).toBe(200);
    expect(await label()).toBe(before);
    expect(dev.output()).not.toContain("Unhandled promise rejection");
  });
});
