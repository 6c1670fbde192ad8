/** The application of docs/coming-from-nextjs.md: its types, its page, and its form without script. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runScript } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createDocumentProject, typeErrorsOf } from "./document-projects.ts";

let project: TestProject;
/** The status and the text of each page that `fixtures/documents/nextjs` has opened, before and after it saved a note. */
let seen: readonly (readonly [status: number, text: string])[];

beforeAll(async () => {
  project = createDocumentProject("nextjs");
  const output = await runScript(project.dir, ["src/main.ts"]);
  seen = JSON.parse(output.slice(output.indexOf("[[")));
});
afterAll(() => project?.remove());

describe("the application of docs/coming-from-nextjs.md", () => {
  it("has no type errors", async () => {
    expect(await typeErrorsOf("nextjs")).toBe("");
  });

  it("shows a note in its form, and responds with 404 for one that does not exist", () => {
    expect(seen[0]).toEqual([200, expect.stringContaining(">Buy milk</textarea>")]);
    expect(seen[1]).toEqual([404, expect.stringContaining("There is no such note.")]);
  });

  it("shows the error of an empty note, and saves another one", () => {
    expect(seen[2]).toEqual([422, expect.stringContaining("Write something.")]);
    expect(seen[3]?.[0]).toBe(303);
    expect(seen[4]).toEqual([200, expect.stringContaining(">Buy bread</textarea>")]);
  });
});
