import { expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { requestContextOf } from "#test/request-context";
import { requireSameOrigin } from "./require-same-origin.ts";

it("logs at most 300 characters of each header of a rejected request, because these requests are not limited by a rate", () => {
  const { log, lines } = recordedLog();
  const headers = { origin: `https://${"a".repeat(5000)}.example`, "sec-fetch-site": "b".repeat(5000) };
  const context = requestContextOf(new Request("http://localhost/__web/rpc/f", { method: "POST", headers }));
  expect(() => requireSameOrigin(context, log, "call")).toThrow("Calls from another site are not allowed.");
  const [line] = lines;
  expect(line?.fields).toMatchObject({ origin: headers.origin.slice(0, 300), fetchSite: "b".repeat(300) });
  expect(JSON.stringify(line).length).toBeLessThan(1500);
});
