/**
 * What an application may do to the process of `tsweb dev`: block it, end it, throw outside of requests.
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { type RunningServer, runTsweb, spawnNode, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const APP =
  'import { App } from "tsweb";\nimport * as calls from "./calls.server.ts";\nexport default new App({ modules: [calls] });\n';

const CALLS = `import { writeFileSync } from "node:fs";
import { server } from "tsweb";
export const ping = server(() => "pong");
export const spin = server(() => {
  const [started, pause] = [Date.now(), new Int32Array(new SharedArrayBuffer(4))];
  writeFileSync("started.txt", "");
  while (started > 0) Atomics.wait(pause, 0, 0, 10); // blocks as a computation does, and leaves the processor to others
});
export const exit = server(() => {
  for (const message of ["ready", null, { type: "listening" }]) process.send?.(message);
  process.exit(3);
});
export const throw_later = server(() => {
  setTimeout(() => {
    throw new Error("thrown in a timer");
  }, 1);
});
`;

const FILES = { "src/app.ts": APP, "src/calls.server.ts": CALLS };

/** A Vite config that takes a second, and shows when the process starts and ends. */
const SLOW_CONFIG = `import { writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync("ended.txt", ""));
writeFileSync("starting.txt", String(process.pid));
await new Promise((resolve) => setTimeout(resolve, 1_000));
export default {};
`;

let project: TestProject;
let dev: RunningServer;

beforeEach(() => {
  project = TestProject.fromFiles(FILES);
  return () => project.remove(); // not in afterEach, which runs before the server stops
});

async function call(name: string): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${dev.address}/__web/rpc/${name}`, { method: "POST", headers, body: '{"args":{}}' });
  return (await response.json()).result;
}

/** Calls a function whose response never arrives. */
function callWithoutResponse(name: string): void {
  void call(name).catch(() => undefined); // the connection is lost
}

const pong = () => call("ping").catch(() => "unreachable");

describe("tsweb dev", () => {
  // The order of these tests matters: each edits the project that the next ones use.
  let shared: TestProject;

  beforeAll(async () => {
    shared = TestProject.fromFiles(FILES);
    dev = await startDev(shared.dir);
  });
  afterAll(async () => {
    await dev?.stop();
    shared?.remove();
  });

  it("prints an error that is thrown in a timer with its location, and continues", async () => {
    expect(await call("throw_later")).toBeNull();
    await expect
      .poll(() => dev.output())
      .toMatch(/Uncaught exception .*thrown in a timer\nsrc\/calls\.server\.ts:15:11\n/s);
    expect(await call("ping")).toBe("pong");
  });

  it("reports an endless loop with its location, and an edit starts the application again on the same port", async () => {
    callWithoutResponse("spin");
    await expect
      .poll(() => dev.output())
      .toContain("The application has not responded for 5 seconds. It is running src/calls.server.ts:7:");
    shared.write("data.json", "{}"); // not an edit of the application's code
    shared.write("src/calls.server.ts", CALLS.replace("started > 0", "started < 0"));
    await expect.poll(pong).toBe("pong");
    expect(dev.output()).toContain("src/calls.server.ts has changed. Starting the application again");
    expect(await call("spin")).toBeNull();
  });

  it("starts an application that ends its process again after an edit", async () => {
    callWithoutResponse("exit");
    await expect.poll(() => dev.output()).toContain("The application has ended the process of tsweb dev (exit code 3)");
    shared.write("src/calls.server.ts", CALLS.replace("process.exit(3)", 'return "no exit"'));
    await expect.poll(pong).toBe("pong");
    expect(await call("exit")).toBe("no exit");
  });

  it("prints the location of an error in the Vite config, continues with the previous one, and stops with status 0", async () => {
    shared.write("vite.config.ts", "\nexport default { base: nope };");
    await expect.poll(() => dev.output()).toContain("continues with the previous Vite config");
    expect(dev.output()).toContain("ReferenceError: nope is not defined\nvite.config.ts:2:24\n");
    expect(await call("ping")).toBe("pong");
    expect(await dev.stop()).toBe(0);
  });
});

describe("tsweb dev with an endless loop", () => {
  beforeEach(async () => {
    dev = await startDev(project.dir);
    callWithoutResponse("spin");
    await expect.poll(() => existsSync(project.file("started.txt"))).toBe(true);
    return () => dev.stop();
  });

  it("ends at a signal with its status: the application is killed after 2 seconds", async () => {
    dev.signal("SIGINT");
    expect(await dev.exited).toBe(130);
    expect(dev.output()).toContain("The application did not stop within 2 seconds, and was killed.");
    expect(await pong()).toBe("unreachable");
  });

  it("leaves no process when the one that the user has started is killed", async () => {
    dev.signal("SIGKILL");
    await expect.poll(pong).toBe("unreachable");
  });

  it("is killed at once by a second signal", async () => {
    dev.signal("SIGINT");
    await expect.poll(() => dev.output()).toContain("Stopping");
    dev.signal("SIGTERM");
    expect(await dev.exited).toBe(143);
    expect(dev.output()).not.toContain("was killed");
    expect(await pong()).toBe("unreachable");
  });
});

it("tsweb dev leaves no process when the one that the user has started is killed", async () => {
  dev = await startDev(project.dir);
  dev.signal("SIGKILL");
  await dev.exited;
  await expect.poll(pong).toBe("unreachable");
});

/** Interrupts a running application whose `on_stop` does something. Returns the exit code. */
async function interruptStopping(work: string): Promise<number | NodeJS.Signals> {
  const app = `export default new App({ modules: [], on_stop: () => ${work} });\n`;
  project.write("src/app.ts", `import { App } from "tsweb";\n${app}`);
  dev = await startDev(project.dir);
  expect((await fetch(`${dev.address}/healthz`)).status).toBe(200);
  dev.signal("SIGINT");
  return dev.exited;
}

it("tsweb dev waits at a signal for an on_stop that does not end, and ends with status 0", async () => {
  expect(await interruptStopping("new Promise(() => undefined)")).toBe(0);
  expect(dev.output()).toContain("on_stop");
  expect(dev.output()).not.toContain("was killed");
});

it("tsweb dev kills at a signal, with its status, an application whose on_stop blocks for 6 seconds", async () => {
  const block = 'console.log("on_stop runs");\n  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);\n';
  expect(await interruptStopping(`{\n  ${block}}`)).toBe(130);
  expect(dev.output()).toContain("on_stop runs");
  expect(dev.output()).toContain("The application did not stop within 6 seconds, and was killed.");
});

it("tsweb dev ends with the status of Ctrl-C, which both of its processes receive, while the server starts", async () => {
  project.write("vite.config.ts", SLOW_CONFIG);
  const { child } = spawnNode(project.dir, [join(repository, "bin/tsweb.js"), "dev", project.dir]);
  const exited = once(child, "exit");
  await expect.poll(() => existsSync(project.file("starting.txt")) && project.read("starting.txt")).toMatch(/^\d+$/);
  process.kill(Number(project.read("starting.txt")), "SIGINT");
  child.kill("SIGINT");
  expect(await exited).toEqual([130, null]);
});

it("tsweb dev leaves no process when the one that the user has started is killed while the server starts", async () => {
  project.write("vite.config.ts", SLOW_CONFIG);
  const { child } = spawnNode(project.dir, [join(repository, "bin/tsweb.js"), "dev", project.dir]);
  await expect.poll(() => existsSync(project.file("starting.txt"))).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => existsSync(project.file("ended.txt"))).toBe(true);
});

describe("a Vite config with an error", () => {
  it.each([
    [
      "dev",
      "an undefined variable in line 1",
      "export default { base: nope };",
      "ReferenceError: nope is not defined\nvite.config.ts:1:24\n",
    ],
    [
      "dev",
      "a plugin that throws",
      'const configResolved = () => {\n  throw new Error("the plugin failed");\n};\nexport default { plugins: [{ name: "x", configResolved }] };',
      "Error: the plugin failed\nvite.config.ts:2:9\n",
    ],
    [
      "build",
      "an error of syntax in line 1",
      "export default { base: [ };",
      "Unexpected token. Correct it.\nvite.config.ts:1:26\n",
    ],
    [
      "dev",
      "a missing package",
      'import x from "missing-package";\nexport default { plugins: [x()] };',
      'The package "missing-package" is not installed. Install it: npm install missing-package\nvite.config.ts:1:15\n',
    ],
  ])("is printed without the lines of Vite, and tsweb %s exits with 1: %s", async (command, _, config, expected) => {
    project.write("vite.config.ts", config);
    const { code, output } = await runTsweb(project.dir, [command]);
    expect(code).toBe(1);
    expect(output).toContain(expected);
    expect(output).not.toMatch(/node_modules|\.vite-temp|__vite_injected|\n {4}at /);
  });
});
