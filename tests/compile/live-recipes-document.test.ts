/**
 * The applications of docs/live-recipes.md: their types, and the outbox while the bus is unreachable. And the types of the loops in
 * docs/live.md.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { TestProject } from "#test/test-project";

/**
 * Calls the function of the outbox while the bus is unreachable and afterwards, and prints what the calls have returned and
 * what was published.
 */
const MAIN = `
  import { type Bus, realtime } from "tsweb";

  const published: string[] = [];
  let isReachable = false;
  const bus: Bus = {
    publish: async (channel, data) => {
      if (!isReachable) throw new Error("The bus is unreachable.");
      published.push(channel + " " + data);
      // The bus has stored this message, and its answer is lost.
      if (published.length === 1) throw new Error("The connection was lost.");
      return String(published.length);
    },
    position: async (channels) => channels.map(() => "0"),
    read: async () => ({ messages: [], gap: false, end: "0", more: false }),
    watch: async () => () => undefined,
    close: async () => undefined,
  };
  realtime.use_bus(bus);
  console.error = () => undefined; // the failures are intended

  const { visitor } = await import("tsweb/testing");
  const { default: app } = await import("./app.ts");
  const { flushOutbox, startOutbox, stopOutbox } = await import("./outbox.server.ts");
  const { say } = visitor(app).client<typeof import("./rooms.server.ts")>();
  const returned = [await say("a", "1", "first"), await say("b", "1", "second")];
  await flushOutbox();
  const whileUnreachable = [...published];
  isReachable = true;
  startOutbox();
  while (published.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  await stopOutbox();
  const { db } = await import("./db.server.ts");
  const { rows } = await db.execute("SELECT count(*) AS count FROM outbox");
  console.log(JSON.stringify({ returned, whileUnreachable, published, left: rows[0]?.count }));
`;

/** The modules that the loops of docs/live.md import. */
const ROWS = `
  export async function* rowsOf(id: string): AsyncGenerator<{ row: string }> { yield { row: id }; }
  export const importRow = async ({ row }: { row: string }): Promise<string> => row;
  export const loadPrices = async (): Promise<[item: string, price: number][]> => [["tea", 3]];
`;

let project: TestProject;
beforeAll(() => {
  const live = documentedFiles("docs/live.md");
  project = TestProject.fromFiles({
    ...documentedFiles("docs/live-recipes.md"),
    ...Object.fromEntries(["src/imports.server.ts", "src/prices.server.ts"].map((file) => [file, live[file] ?? ""])),
    "src/rows.server.ts": ROWS,
    "src/main.ts": MAIN,
    "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
  });
  project.linkPackages(repository, ["@libsql", "postgres", "preact", "@types"]);
});
afterAll(() => project?.remove());

describe("the applications of docs/live-recipes.md", () => {
  it("have no type errors", () => {
    const compiler = join(repository, "node_modules/typescript/bin/tsc");
    let errors = "";
    try {
      const args = [compiler, "--noEmit", "-p", project.file("tsconfig.json")];
      execFileSync(process.execPath, args, { cwd: project.dir, encoding: "utf8" });
    } catch (error) {
      errors = String(Reflect.get(Object(error), "stdout"));
    }
    expect(errors).toBe("");
  });

  it("publish what was stored while the bus was unreachable, in order, and answer the calls at once", () => {
    const { NODE_OPTIONS: _, NODE_ENV: __, VITEST: ___, ...env } = process.env; // of the test runner
    const output = execFileSync(process.execPath, ["--import", "tsweb/register", "src/main.ts"], {
      cwd: project.dir,
      env: { ...env, DATABASE_URL: "file:outbox.db" },
      encoding: "utf8",
    });
    const [first, second] = [
      { id: "a", text: "first" },
      { id: "b", text: "second" },
    ];
    const messages = [first, first, second].map((message) => `room:1 ${JSON.stringify(message)}`);
    expect(JSON.parse(output.slice(output.indexOf('{"returned"')))).toEqual({
      returned: [first, second],
      whileUnreachable: [],
      published: messages,
      left: 0,
    });
  });
});
