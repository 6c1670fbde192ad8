/**
 * The unit tests of the adapter for Node, on the newest Node: some of it relies on members of Node that have no public name, and
 * on when Node writes. `npm run matrix` runs those of the whole folder on every Node.
 */
import { expect, it } from "vitest";
import { installedProgram, NEWEST_NODE } from "#test/runtimes";
import { runUnitTests } from "#test/unit-tests";

const FILES = [
  "keep-alive",
  "node-inbound-request",
  "pipelining",
  "prepared-head",
  "pushed-body",
  "rejected-requests",
  "server-request",
  "stalled-clients",
  "write-response",
].map((name) => `src/adapters/${name}.test.ts`);

it(`the unit tests of the adapter for Node pass on ${NEWEST_NODE.name}`, async () => {
  const { passed, failures } = await runUnitTests(await installedProgram(NEWEST_NODE), FILES);
  expect(failures).toEqual([]);
  expect(passed).toBeGreaterThan(80);
});
