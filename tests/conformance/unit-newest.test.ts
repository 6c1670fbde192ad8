/**
 * The unit tests of the adapter for Node that rely on members of Node without a public name, and on when Node writes, on the newest
 * Node. `npm run matrix` runs those of the whole folder on every Node.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { installedProgram, NEWEST_NODE } from "#test/runtimes";
import { runUnitTests } from "#test/unit-tests";

const FILES = [
  "connections",
  "fast/keep-alive",
  "fast/known-headers",
  "fast/prepared-head",
  "fast/server-request",
  "node",
  "node-inbound-request",
  "pipelining",
  "rejected-requests",
  "write-response",
].map((name) => `src/adapters/${name}.test.ts`);

it(`the unit tests of the adapter for Node pass on ${NEWEST_NODE.name}`, async () => {
  expect(FILES.filter((file) => !existsSync(join(repository, file)))).toEqual([]); // Vitest ignores what does not exist
  const { passed, failures } = await runUnitTests(await installedProgram(NEWEST_NODE), FILES);
  expect(failures).toEqual([]);
  expect(passed).toBeGreaterThan(200);
});
