/** The application of docs/api-keys.md: its types, and its test. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runTsweb } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createDocumentProject, testResultsOf, typeErrorsOf } from "./document-projects.ts";

let project: TestProject;
beforeAll(() => {
  project = createDocumentProject("api-keys");
});
afterAll(() => project?.remove());

describe("the application of docs/api-keys.md", () => {
  it("has valid types", async () => {
    expect(await typeErrorsOf("api-keys")).toBe("");
  });

  it("passes its own test", async () => {
    expect(await testResultsOf("api-keys")).toEqual({ numPassed: 2, failed: [], message: "" });
  });

  it("has an OpenAPI document with the bearer scheme", async () => {
    const { output } = await runTsweb(project.dir, ["openapi"], { DATABASE_URL: ":memory:" });
    const { paths, components } = JSON.parse(output);
    expect(paths["/__web/rpc/order"].post.security).toEqual([{ session: [] }, { bearer: [] }]);
    expect(components.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "bearer" });
    expect(components.securitySchemes.session.name).toMatch(/^web_session/);
  });
});
