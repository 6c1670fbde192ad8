/**
 * Functions with the option `idempotent` in several processes: a submission runs once, also if the process that runs it is killed.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AppProcess } from "#test/app-process";
import { buildProcesses } from "#test/built-processes";
import { ProcessPair, SHARED_BUSES } from "#test/process-pair";
import type { TestProject } from "#test/test-project";

let project: TestProject;
beforeAll(async () => {
  project = await buildProcesses();
});
afterAll(() => project?.remove());

function runsOf(item: string): number {
  return readFileSync(project.file("runs"), "utf8")
    .split("\n")
    .filter((line) => line === item).length;
}

async function order({ address }: AppProcess, key: string, args: object) {
  const headers = { "content-type": "application/json", "idempotency-key": key };
  const response = await fetch(`${address}/__web/rpc/order`, {
    method: "POST",
    headers,
    body: JSON.stringify({ args }),
  });
  return response.json();
}

describe.each(SHARED_BUSES)("an idempotent function in two processes on %s", (_, startBus) => {
  let pair: ProcessPair;
  let apps: ProcessPair["apps"];
  beforeAll(async () => {
    pair = await ProcessPair.start(project.dir, startBus);
    apps = pair.apps;
  });
  afterAll(() => pair?.stop());

  it("runs once for calls and forms that reach both at once [ONCE-8]", async () => {
    const [key, item] = [randomUUID(), randomUUID()];
    const calls = await Promise.all(
      Array.from({ length: 10 }, (_, i) => order(apps[(i % 2) as 0 | 1], key, { item, ms: 50 })),
    );
    expect(new Set(calls.map(({ result }) => result)).size).toBe(1);
    expect(runsOf(item)).toBe(1);
    const html = await (await fetch(apps[0].address)).text();
    const action = /action="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    const form = randomUUID();
    const pages = await Promise.all(
      apps.map(async ({ address }) => {
        const body = new URLSearchParams({ item: form });
        return (await fetch(address + action, { method: "POST", body, headers: { origin: address } })).status;
      }),
    );
    expect(pages).toEqual([200, 200]);
    expect(runsOf(form)).toBe(1);
  });

  it("is not known afterwards if the process that ran it was killed, and does not run again [ONCE-9]", async () => {
    const [key, item] = [randomUUID(), randomUUID()];
    const cut = order(apps[0], key, { item, ms: 60_000 }).catch(() => "cut off");
    await expect.poll(() => runsOf(item)).toBe(1);
    await apps[0].kill();
    expect(await cut).toBe("cut off");
    const startMs = performance.now();
    const { error } = await order(apps[1], key, { item, ms: 60_000 });
    expect(error).toMatchObject({ code: "conflict", details: { unknown: true } });
    expect(performance.now() - startMs).toBeLessThan(12_000);
    expect(runsOf(item)).toBe(1);
    await apps[0].restart();
  }, 30_000);
});
