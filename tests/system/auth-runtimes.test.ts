/**
 * tsweb/auth as it is built gives the same on other runtimes. Here they are the ends of the list; `npm run matrix`
 * has all of it.
 */
import { expect, test } from "vitest";
import { NEWEST_NODE, programOf, RUNTIMES } from "#test/runtimes";
import { tryToolkit } from "../conformance/auth-toolkit.ts";

const others = [NEWEST_NODE, ...RUNTIMES.filter(({ program }) => program !== "node")];
const programs = [
  { name: "this Node", args: [], find: async () => process.execPath },
  ...others.map((runtime) => ({ ...runtime, find: () => programOf(runtime) })),
];

test.each(programs)("tsweb/auth gives what is right on $name", { timeout: 180_000 }, async ({ find, args }) => {
  const rows = await tryToolkit(await find(), args);
  expect(Object.keys(rows).length).toBeGreaterThan(15);
  expect(Object.entries(rows).filter(([, wrong]) => wrong !== null)).toEqual([]);
});
