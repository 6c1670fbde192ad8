/**
 * The unit tests of the fast ways of the adapter for Node, on the newest Node: they rely on members of Node that have no public
 * name, and on when Node writes. `npm run matrix` runs those of the whole folder on every Node.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { installedProgram, NEWEST_NODE } from "#test/runtimes";
import { runUnitTests } from "#test/unit-tests";

const FILES = [
  "fast/keep-alive",
  "fast/prepared-head",
  "fast/server-request",
  "node-inbound-request",
  "write-response",
].map((name) => `src/adapters/${name}.test.ts`);

it(`the unit tests of the adapter for Node pass on ${NEWEST_NODE.name}`, async () => {
  expect(FILES.filter((file) => !existsSync(join(repository, file)))).toEqual([]); // Vitest ignores what does not exist
  const { passed, failures } = await runUnitTests(await installedProgram(NEWEST_NODE), FILES);
  expect(failures).toEqual([]);
  expect(passed).toBeGreaterThan(80);
});
