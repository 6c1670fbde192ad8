import { expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { ReachabilityLog } from "./reachability-log.ts";

function openLog() {
  const { log, lines } = recordedLog();
  const reachability = new ReachabilityLog({ service: "Redis", fields: { redis: "host:1" }, log });
  return { reachability, lines };
}

it("logs one line when a service becomes unreachable and one when it is reachable again", () => {
  const { reachability, lines } = openLog();
  reachability.reachable();
  for (const reason of ["refused", "refused again"]) reachability.unreachable(reason);
  for (let times = 0; times < 2; times++) reachability.reachable();
  reachability.unreachable("refused later");
  expect(lines).toEqual([
    { level: "warn", fields: { redis: "host:1", reason: "refused" }, message: "Redis is unreachable; retrying" },
    { level: "info", fields: { redis: "host:1" }, message: "Redis is reachable again" },
    { level: "warn", fields: { redis: "host:1", reason: "refused later" }, message: "Redis is unreachable; retrying" },
  ]);
});

it("logs no failure after it was closed", () => {
  const { reachability, lines } = openLog();
  reachability.close();
  reachability.unreachable("The connection was closed.");
  expect(lines).toEqual([]);
});
