/** The board of docs/live.md, and its test in docs/tests-and-scripts.md. */
import { describe, expect, it } from "vitest";
import { testResultsOf, typeErrorsOf } from "./document-projects.ts";

describe("the board of docs/live.md", () => {
  it("has valid types", async () => {
    expect(await typeErrorsOf("live")).toBe("");
  });

  it("passes the test of docs/tests-and-scripts.md, and fails it without its publish or with another channel", async () => {
    expect(await testResultsOf("live")).toEqual({ numPassed: 1, failed: [], message: "" });
    for (const edit of ["unpublished", "other-channel"]) {
      expect(await testResultsOf("live", edit)).toMatchObject({ numPassed: 0, failed: [expect.any(String)] });
    }
  });
});
