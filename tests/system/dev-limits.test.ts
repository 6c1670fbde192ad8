/** What the development server does with limits: it applies those that are set, and reports the default once. */
import { afterEach, expect, it } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

let project: TestProject | undefined;
let dev: RunningServer | undefined;
afterEach(async () => {
  expect(await dev?.stop()).toBe(0);
  project?.remove();
  project = undefined;
  dev = undefined;
});

const NOTE = "This call would have been refused in production, with 429: the default limit is 120 calls in 60 seconds";

async function start(options: string): Promise<RunningServer> {
  project = TestProject.fromFiles({
    "src/app.ts":
      'import { App } from "tsweb";\nimport * as words from "./words.server.ts";\n' +
      `export default new App({ modules: [words]${options} });\n`,
    "src/words.server.ts":
      'import { limit, server } from "tsweb";\nexport const search = server(() => 1);\n' +
      "export const rare = server({ rate: { calls: 2, seconds: 60, by: (word) => word } }, (word: string) => word);\n" +
      'export const ask = server(() => limit("ask", { calls: 2, seconds: 60 }));\n',
  });
  dev = await startDev(project.dir);
  return dev;
}

/** Sends calls one after the other, and returns how many had each status. */
async function call({ address }: RunningServer, name: string, count: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let sent = 0; sent < count; sent++) {
    const response = await fetch(`${address}/__web/rpc/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ args: name === "rare" ? { word: "tea" } : {} }),
    });
    await response.arrayBuffer();
    counts[response.status] = (counts[response.status] ?? 0) + 1;
  }
  return counts;
}

it("tsweb dev accepts calls above the default limit, and prints once that production would refuse them", async () => {
  const server = await start("");
  expect(await call(server, "search", 120)).toEqual({ 200: 120 });
  expect(server.output()).not.toContain(NOTE);
  expect(await call(server, "search", 20)).toEqual({ 200: 20 });
  await expect.poll(() => server.output()).toContain(NOTE);
  for (const name of ["rare", "ask"]) expect(await call(server, name, 4), name).toEqual({ 200: 2, 429: 2 });
  expect(server.output().split(NOTE)).toHaveLength(2);
});

it("tsweb dev refuses calls above a limit that is set", async () => {
  const server = await start(", rate: { calls: 3, seconds: 60 }");
  expect(await call(server, "search", 5)).toEqual({ 200: 3, 429: 2 });
  expect(server.output()).not.toContain(NOTE);
});
