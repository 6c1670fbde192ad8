/**
 * Signing users out, and changing the secret, with several processes of a built application that share a folder and no bus.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { AppProcess, shiftedDateArgs } from "#test/app-process";
import { buildProcesses } from "#test/built-processes";
import { freePort } from "#test/free-port";
import { fillDisk, mountTmpfs, unmount } from "#test/full-disk";
import { spawnNode } from "#test/run-tsweb";
import { TemporaryFolder } from "#test/temporary-folder";
import type { TestProject } from "#test/test-project";

let project: TestProject;
let data: TemporaryFolder;
const processes: AppProcess[] = [];

beforeAll(async () => {
  project = await buildProcesses();
});
afterAll(() => project?.remove());
beforeEach(() => {
  data = new TemporaryFolder("data");
});
afterEach(async () => {
  for (const process of processes.splice(0)) await process.stop();
  data.remove();
});

const createSecret = () => randomBytes(32).toString("hex");

async function start(env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<AppProcess> {
  const process = await AppProcess.start(project.dir, { WEB_DATA_DIR: data.path, ...env }, args);
  processes.push(process);
  return process;
}

async function send(
  process: Pick<AppProcess, "address">,
  name: string,
  args: object,
  cookie: string,
): Promise<Response> {
  const headers = { "content-type": "application/json", cookie };
  return fetch(`${process.address}/__web/rpc/${name}`, { method: "POST", headers, body: JSON.stringify({ args }) });
}

async function call(process: AppProcess, name: string, args: object, cookie = ""): Promise<unknown> {
  const response = await send(process, name, args, cookie);
  const { result, error } = await response.json();
  if (error) throw new Error(error.message);
  return result;
}

async function enter(process: AppProcess, user: string): Promise<string> {
  const response = await send(process, "enter", { user }, "");
  return String(response.headers.get("set-cookie")).split(";")[0] ?? "";
}

it("signs a user out in every process, ends the streams there, and loses nothing when all processes are killed", async () => {
  const env = { WEB_AUTH_SECRET: createSecret() };
  const [one, other] = [await start(env), await start(env)];
  const [ada, bob] = [await enter(one, "ada"), await enter(other, "bob")];
  const stream = (await send(other, "watch", {}, ada)).text();
  await expect.poll(() => call(other, "who", {}, ada)).toBe("ada");
  await call(one, "revoke", { user: "ada" });
  await one.kill();
  await expect.poll(() => call(other, "who", {}, ada)).toBe("nobody");
  expect(await stream).toContain('{"error":{"code":"unauthenticated"');
  await other.kill();
  const later = await start(env);
  expect([await call(later, "who", {}, ada), await call(later, "who", {}, bob)]).toEqual(["nobody", "bob"]);
  expect(await call(later, "who", {}, await enter(later, "ada"))).toBe("ada");
});

it("signs out whom it has confirmed although the disk is full, rejects the others, and goes on", async () => {
  mountTmpfs(data.path, "64k");
  try {
    const env = { WEB_AUTH_SECRET: createSecret() };
    const first = await start(env);
    const cookies = new Map<string, string>();
    const users = Array.from({ length: 200 }, (_, n) => `user ${n}`);
    for (const user of [...users, "bob"]) cookies.set(user, await enter(first, user));
    fillDisk(join(data.path, "filler"));
    const confirmed: string[] = [];
    let failure = "";
    for (const user of users) {
      failure = await call(first, "revoke", { user }).then(() => "", String);
      if (failure !== "") break;
      confirmed.push(user); // the last block of the file had room for it
    }
    expect(failure).toContain("Error");
    expect(first.output()).toMatch(/ENOSPC|Is the disk full/);
    const expectSessions = async (process: AppProcess) => {
      for (const user of confirmed) expect(await call(process, "who", {}, cookies.get(user))).toBe("nobody");
      expect(await call(process, "who", {}, cookies.get("bob"))).toBe("bob");
    };
    await expectSessions(first);
    await first.kill();
    const second = await start(env);
    await expectSessions(second);
    expect(await call(second, "revoke", { user: "bob" }).then(() => "", String)).toContain("Error");
    await expectSessions(second);
    rmSync(join(data.path, "filler"));
    await call(second, "revoke", { user: "bob" });
    expect(await call(second, "who", {}, cookies.get("bob"))).toBe("nobody");
    await second.kill();
    const third = await start(env);
    for (const user of [...confirmed, "bob"]) expect(await call(third, "who", {}, cookies.get(user))).toBe("nobody");
    expect(await call(third, "who", {}, await enter(third, "bob"))).toBe("bob");
  } finally {
    unmount(data.path);
  }
});

it("does not start if the disk has no room for the log, and prints the variable, the folder and the fix", async () => {
  mountTmpfs(data.path, "64k");
  try {
    fillDisk(join(data.path, "filler"));
    const env = { WEB_AUTH_SECRET: createSecret(), WEB_DATA_DIR: join(data.path, "shop") };
    const failure = await start(env).then(() => "It has started.", String);
    expect(failure).toContain("exited with 1:");
    expect(failure).toContain(`WEB_DATA_DIR is ${join(data.path, "shop")}, where`);
    expect(failure).toContain("ENOSPC");
    expect(failure).toContain("Free space on that disk");
    expect(failure).not.toContain("retrying");
  } finally {
    unmount(data.path);
  }
});

describe("a server that cannot read the log when it starts", () => {
  const path = () => join(data.path, "revocations-1.log");

  /** Starts the server with a file in place of the log, on a port of its own, and waits until it has logged that. */
  async function startWithoutLog() {
    writeFileSync(path(), "something else\n");
    const address = `http://127.0.0.1:${await freePort()}`;
    const env = { WEB_AUTH_SECRET: createSecret(), WEB_DATA_DIR: data.path, PORT: new URL(address).port };
    const started = spawnNode(project.dir, ["dist/server.mjs"], env);
    onTestFinished(() => void started.child.kill("SIGKILL"));
    const exited = once(started.child, "close");
    await expect.poll(() => started.output()).toContain("The revocation log cannot be read; retrying");
    return { ...started, address, exited };
  }

  it("does not listen meanwhile, and exits with 0 on SIGTERM without having listened [SESSION-28]", async () => {
    const { child, output, address, exited } = await startWithoutLog();
    await expect.poll(output).toContain("Waiting for the first read of the revocation log, for up to 10 s");
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(output()).toContain('"msg":"Stopped"');
    expect(output()).not.toContain("Listening");
  });

  it("listens when it has read the log, and no request of a signed-in user gets 503", async () => {
    const { child, output, address, exited } = await startWithoutLog();
    rmSync(path());
    await expect.poll(output).toContain("Listening at");
    expect(output()).toMatch(/"msg":"The revocation log can be read again".*"msg":"Listening at/s);
    expect((await send({ address }, "enter", { user: "ada" }, "")).status).toBe(200);
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
});

it("signs nobody out while the secret changes in two phases, process by process", async () => {
  const [old, fresh] = [createSecret(), createSecret()];
  const phases = [
    { WEB_AUTH_SECRET: old },
    { WEB_AUTH_SECRET: old, WEB_AUTH_SECRET_PREVIOUS: fresh },
    { WEB_AUTH_SECRET: fresh, WEB_AUTH_SECRET_PREVIOUS: old },
  ];
  const pair = [await start(phases[0] ?? {}), await start(phases[0] ?? {})];
  const cookies: string[] = [];
  for (const env of phases.slice(1)) {
    for (const index of [0, 1]) {
      await pair[index]?.stop();
      pair[index] = await start(env);
      for (const process of pair) cookies.push(await enter(process, "ada"));
      for (const process of pair) {
        for (const cookie of cookies) expect(await call(process, "who", {}, cookie)).toBe("ada");
      }
    }
  }
});

it("signs users out who reach another process, if the secret changes in one phase, and logs the reason", async () => {
  const [old, fresh] = [createSecret(), createSecret()];
  const before = await start({ WEB_AUTH_SECRET: old });
  const after = await start({ WEB_AUTH_SECRET: fresh, WEB_AUTH_SECRET_PREVIOUS: old });
  const cookie = await enter(after, "ada");
  expect(await call(before, "who", {}, cookie)).toBe("nobody");
  await expect.poll(() => before.output()).toContain('"reason":"unknown_secret"');
});

it("accepts a session of a process whose clock is 50 s ahead, and logs by how much one is that is further ahead", async () => {
  const env = { WEB_AUTH_SECRET: createSecret() };
  const [ahead, far, own] = [
    await start(env, shiftedDateArgs(50_000)),
    await start(env, shiftedDateArgs(90_000)),
    await start(env),
  ];
  expect(await call(own, "who", {}, await enter(ahead, "ada"))).toBe("ada");
  expect(await call(own, "who", {}, await enter(far, "ada"))).toBe("nobody");
  await expect.poll(() => own.output()).toMatch(/"seconds":(8|9)\d,.*The clocks of the servers differ/);
});
