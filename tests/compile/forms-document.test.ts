/** The application of docs/forms.md: its types, and what its forms do without script. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runScript } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createDocumentProject, typeErrorsOf } from "./document-projects.ts";

let project: TestProject;
/** What each form of `fixtures/documents/forms` led to: the status, the address of a redirect, and the body of the page. */
let seen: readonly (readonly [status: number, location: string | null, body: string | undefined])[];

beforeAll(async () => {
  project = createDocumentProject("forms");
  const output = await runScript(project.dir, ["src/main.ts"], { WEB_AUTH_SECRET: "5a".repeat(32) });
  seen = JSON.parse(output.slice(output.indexOf("[[")));
});
afterAll(() => project?.remove());

describe("the application of docs/forms.md", () => {
  it("has no type errors", async () => {
    expect(await typeErrorsOf("forms")).toBe("");
  });

  it("renders the address of a form", () => {
    expect(seen[0]?.[2]).toContain(
      '<form action="/?__form=join" method="post" enctype="multipart/form-data"><label>Email',
    );
  });

  it("shows all errors, and what was typed", () => {
    const [status, , body] = seen[1] ?? [];
    expect(status).toBe(422);
    expect(body).toContain("Email: Please write your whole address.");
    expect(body).toContain("Age: Enter a whole number.");
    expect(body).toContain("Terms: This field is required.");
    expect(body).toMatch(/name="email" type="email" required value="ada" autofocus/);
    expect(body).toMatch(/value="chess"\/>.*value="go" checked/);
    expect(body).toContain('<textarea name="note">Hi</textarea>');
  });

  it("follows the redirect, and refuses the second form with the message of the function", () => {
    expect(seen[2]?.slice(0, 2)).toEqual([303, "/members"]);
    expect(seen[3]?.[0]).toBe(409);
    expect(seen[3]?.[2]).toContain("Email: This address is a member.");
  });

  it("shows the message of a handle, and the result of a search", () => {
    expect(seen[4]?.[0]).toBe(422);
    expect(seen[4]?.[2]).toContain('<p role="alert">Name a topic.</p>');
    expect(seen[5]?.[0]).toBe(200);
    expect(seen[5]?.[2]).toContain("<p>Found: ada@club.example</p>");
  });

  it("sends the form of a button to its function", () => {
    expect(seen[6]?.slice(0, 2)).toEqual([303, "/members"]);
    expect(seen[7]?.[2]).not.toContain("ada");
  });
});
