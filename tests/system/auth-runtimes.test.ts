/**
 * The built tsweb/auth on other runtimes: the newest Node, Bun and Deno. `npm run matrix` runs all of them.
 *
 * The tests are concurrent, because most of their time is the installation of the runtimes.
 */
import { test } from "vitest";
import { installedProgram, NEWEST_NODE, RUNTIMES } from "#test/runtimes";
import { checkToolkit } from "../conformance/auth-toolkit.ts";

const runtimes = [NEWEST_NODE, ...RUNTIMES.filter(({ program }) => program !== "node")];
const programs = [
  { name: "this Node", args: [], find: async () => process.execPath },
  ...runtimes.map((runtime) => ({ ...runtime, find: () => installedProgram(runtime) })),
];

test.concurrent.for(programs)(
  "tsweb/auth returns the right results on $name",
  {
    timeout: 180_000,
  },
  async ({ find, args }, { expect }) => {
    const differences = await checkToolkit(await find(), args);
    expect(Object.keys(differences).length).toBeGreaterThan(15);
    expect(Object.entries(differences).filter(([, difference]) => difference !== null)).toEqual([]);
  },
);
