/** The application of docs/coming-from-nextjs.md: its types, its page, and its form without script. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { runProgram, runScript } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

/** Opens the page, saves a note, and prints the status and the text of each page. */
const MAIN = `
  import { visitor } from "tsweb/testing";
  import app from "./app.ts";

  const ada = visitor(app);
  const seen: unknown[] = [];
  const save = async (text: string) => {
    const body = new URLSearchParams({ id: "1", text });
    const response = await ada.fetch("/notes/1?__form=save_note", { method: "POST", body, headers: { origin: "http://localhost" } });
    seen.push([response.status, await response.text()]);
  };
  const open = async (path: string) => {
    const { status, text } = await ada.get(path);
    seen.push([status, text]);
  };
  await open("/notes/1");
  await open("/notes/2");
  await save(" ");
  await save("Buy bread");
  await open("/notes/1");
  console.log(JSON.stringify(seen));
`;

let project: TestProject;
let seen: readonly (readonly [status: number, text: string])[];

beforeAll(async () => {
  project = TestProject.fromFiles({
    ...documentedFiles("docs/coming-from-nextjs.md"),
    "src/main.ts": MAIN,
    "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
  });
  project.linkPackages(repository, ["@types", "preact", "typescript"]);
  const output = await runScript(project.dir, ["src/main.ts"]);
  seen = JSON.parse(output.slice(output.indexOf("[[")));
});
afterAll(() => project?.remove());

describe("the application of docs/coming-from-nextjs.md", () => {
  it("has no type errors", async () => {
    expect(await runProgram(project.dir, ["node_modules/typescript/bin/tsc", "--noEmit"])).toEqual({
      code: 0,
      output: "",
    });
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
