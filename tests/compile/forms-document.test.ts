/** The application of docs/forms.md: its types, and what its forms do without script. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { TestProject } from "#test/test-project";

/** Sends forms and prints what each led to: the status, the address of a redirect, and the body of the page. */
const MAIN = `
  import app from "./app.ts";

  const seen: unknown[] = [];
  const send = async (path: string, fields?: readonly (readonly [string, string])[]) => {
    const init = fields && {
      method: "POST",
      headers: { origin: "http://club.example" },
      body: new URLSearchParams(fields.map((field) => [...field])),
    };
    const response = await app.fetch(new Request("http://club.example" + path, init));
    const [, body] = /<body>(.*)<\\/body>/s.exec(await response.text()) ?? [];
    seen.push([response.status, response.headers.get("location"), body]);
  };
  const valid = [["email", "ada@club.example"], ["age", "36"], ["topics", "chess"], ["topics", "go"], ["note", ""], ["terms", "on"]] as const;
  await send("/");
  await send("/?__form=join", [["email", "ada"], ["age", "x"], ["topics", "go"], ["note", "Hi"]]);
  await send("/?__form=join", valid);
  await send("/?__form=join", valid);
  await send("/members?__form=rename", [["__key", "ada@club.example"], ["email", "ada@club.example"], ["topic", ""]]);
  await send("/members?__form=search", [["text", "da"]]);
  await send("/members?__form=leave:rename", [["email", "ada@club.example"], ["topic", "x"]]);
  await send("/members");
  console.log(JSON.stringify(seen));
`;

let project: TestProject;
let seen: readonly (readonly [status: number, location: string | null, body: string | undefined])[];

beforeAll(() => {
  project = TestProject.fromFiles({
    ...documentedFiles("docs/forms.md"),
    "src/main.ts": MAIN,
    "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
  });
  project.linkPackages(repository, ["zod", "preact", "@types"]);
  const { NODE_OPTIONS: _, NODE_ENV: __, VITEST: ___, ...env } = process.env; // of the test runner
  const output = execFileSync(process.execPath, ["--import", "tsweb/register", "src/main.ts"], {
    cwd: project.dir,
    env: { ...env, WEB_AUTH_SECRET: "5a".repeat(32) },
    encoding: "utf8",
  });
  seen = JSON.parse(output.slice(output.indexOf("[[")));
});
afterAll(() => project.remove());

describe("the application of docs/forms.md", () => {
  it("has no type errors", () => {
    const compiler = join(repository, "node_modules/typescript/bin/tsc");
    const args = ["--noEmit", "-p", project.file("tsconfig.json")];
    let errors = "";
    try {
      execFileSync(process.execPath, [compiler, ...args], { cwd: project.dir, encoding: "utf8" });
    } catch (error) {
      errors = String(Reflect.get(Object(error), "stdout"));
    }
    expect(errors).toBe("");
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
