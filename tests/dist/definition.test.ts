/**
 * "Go to definition" in an editor: the language server of TypeScript, in a project of the template, with the published
 * declarations of tsweb.
 */
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { TestProject } from "#test/test-project";
import { LanguageServer, type Place } from "./language-server.ts";

let project: TestProject;
let server: LanguageServer;

beforeAll(async () => {
  project = TestProject.fromFiles({});
  cpSync(join(repository, "template"), project.dir, { recursive: true });
  symlinkSync(join(repository, "node_modules/@types"), project.file("node_modules/@types"), "dir");
  server = await LanguageServer.start(project.dir);
});

afterAll(async () => {
  await server?.stop();
  project?.remove();
});

/** Returns where a word is defined that follows a text in a file: the path in the project, and the text of its line. */
async function definitionAfter(file: string, before: string): Promise<string[]> {
  const text = project.read(file);
  const offset = text.indexOf(before) + before.length;
  expect(offset).toBeGreaterThanOrEqual(before.length);
  const places = await server.definition(project.file(file), text, offset);
  const root = `${pathToFileURL(project.dir).href}/`;
  return places.map(({ uri, range }: Place) => {
    if (!uri.startsWith(root)) return uri;
    const path = uri.slice(root.length);
    return `${path}: ${project.read(path).split("\n")[range.start.line]?.trim()}`;
  });
}

it("leads from a call in a view to the server function", async () => {
  expect(await definitionAfter("src/greeter.tsx", "form.greeting = await ")).toEqual([
    "src/greetings.server.ts: export const greet = server((name: string) => {",
  ]);
});

it("leads from a view in a page to the view", async () => {
  expect(await definitionAfter("src/pages.server.tsx", "<h1>my-app</h1>\n    <")).toEqual([
    "src/greeter.tsx: export const Greeter = view(() => {",
  ]);
});
