import { expect, test } from "vitest";
import { ConnectionsByBuild } from "./connections-by-build.ts";

const [FIRST, SECOND, THIRD] = ["0mwscmxpswka0", "0mwscmxpswkak", "0mwscmxpt0000"] as const;

test("the connections of pages of earlier builds are counted until they end", () => {
  const connections = new ConnectionsByBuild();
  const ends = [FIRST, SECOND, SECOND, THIRD].map((build) => connections.add(build));
  expect([FIRST, SECOND, THIRD].map((build) => connections.before(build))).toEqual([0, 1, 3]);
  for (const end of ends.slice(0, 2)) end();
  expect([FIRST, SECOND, THIRD].map((build) => connections.before(build))).toEqual([0, 0, 1]);
  for (const end of ends.slice(2)) end();
  expect(connections.before("zzzzzzzzzzzzz")).toBe(0);
});

test.each([null, "", "undefined", "0", `${FIRST}.abc-_1`])("a connection with the build %j is not counted", (build) => {
  const connections = new ConnectionsByBuild();
  connections.add(build)();
  connections.add(build);
  expect(connections.before("zzzzzzzzzzzzz")).toBe(0);
});
