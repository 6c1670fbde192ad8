import { expect, it } from "vitest";
import { registerSdk, unregisterSdk } from "#test/spans";
import { hasRegisteredSdk } from "./telemetry-api.ts";

it("finds an SDK that has registered itself, so that the package is not loaded without one", () => {
  expect(hasRegisteredSdk()).toBe(false);
  registerSdk();
  expect(hasRegisteredSdk()).toBe(true);
  unregisterSdk();
});
