import { expect, it } from "vitest";
import { stopSignalOf } from "./workers.ts";

it("a worker stops for the message of its supervisor, with the signal that the supervisor has received", () => {
  expect(stopSignalOf({ type: "tsweb:stop", signal: "SIGINT" })).toBe("SIGINT");
});

it.each([null, undefined, "tsweb:stop", 1, {}, { type: "tsweb:stop" }, { type: "other", signal: "SIGINT" }])(
  "a worker does not stop for another message: %j",
  (message) => {
    expect(stopSignalOf(message)).toBeUndefined();
  },
);
