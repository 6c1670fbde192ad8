/**
 * The applications of docs/live-recipes.md: their types, and the outbox while the bus is unreachable. And the types of the loops in
 * docs/live.md.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runScript } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createDocumentProject, typeErrorsOf } from "./document-projects.ts";

let project: TestProject;
beforeAll(() => {
  project = createDocumentProject("live-recipes");
});
afterAll(() => project?.remove());

describe("the applications of docs/live-recipes.md", () => {
  it("have no type errors", async () => {
    expect(await typeErrorsOf("live-recipes")).toBe("");
  });

  it("publish what was stored while the bus was unreachable, in order, and answer the calls at once", async () => {
    // It calls the function of the outbox while the bus is unreachable and afterwards.
    const output = await runScript(project.dir, ["src/main.ts"], { DATABASE_URL: "file:outbox.db" });
    const [first, second] = [
      { id: "a", text: "first" },
      { id: "b", text: "second" },
    ];
    const messages = [first, first, second].map((message) => `room:1 ${JSON.stringify(message)}`);
    expect(JSON.parse(output.slice(output.indexOf('{"returned"')))).toEqual({
      returned: [first, second],
      whileUnreachable: [],
      published: messages,
      left: 0,
    });
  });
});
