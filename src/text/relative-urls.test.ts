import { expect, it } from "vitest";
import { relativeUrlAdvice } from "./index.ts";

it("advises to call a function in place of a fetch without an origin, as the error of the engine is", async () => {
  const error = await fetch("/api/guests?limit=3").catch((error: unknown) => error);
  expect(error).toBeInstanceOf(TypeError);
  expect(relativeUrlAdvice(error as TypeError)).toBe(
    "On the server, fetch needs a complete URL. To use what the application itself serves, call the function that the route " +
      "of /api/guests calls.",
  );
});

it("says nothing about other errors", () => {
  for (const message of ["Failed to parse URL from shop.example", "fetch failed"]) {
    expect(relativeUrlAdvice(new TypeError(message))).toBe("");
  }
  expect(relativeUrlAdvice(new Error("Failed to parse URL from /api"))).toBe("");
});
