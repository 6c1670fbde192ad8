import { appendFile, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { TestProject } from "#test/test-project";
import { explainError } from "../../errors/index.ts";
import { withUnawaitedFileCall } from "./thrown-values.ts";

const IMPORT = 'import * as fs from "node:fs/promises";\nimport { appendFile, readFile } from "node:fs/promises";\n';

/** Returns the text about an error in a project of these files. */
async function explain(error: unknown, files: Readonly<Record<string, string>>) {
  const project = TestProject.fromFiles(files);
  try {
    return explainError(await withUnawaitedFileCall(error, project.dir), project.dir);
  } finally {
    project.remove();
  }
}

/** Resolves with the error of a promise that nothing awaits: Node finds the code that awaits a promise. */
const failed = (promise: Promise<unknown>) =>
  new Promise((resolve) => {
    promise.catch((error: unknown) => setImmediate(resolve, error));
  });

it("an error of a call that nobody awaits names the function, the path and the line", async () => {
  const error = await failed(appendFile("/nowhere/guests.log", "x"));
  const explained = await explain(error, {
    "src/log.server.ts": `${IMPORT}export async function log() {\n  await appendFile("a", "b");\n  appendFile("/nowhere/guests.log", "x");\n}\n`,
    "src/other.server.ts": `${IMPORT}// appendFile("a", "b");\nexport const read = () => readFile("a");\n`,
    "src/own.server.ts": "export function write() {\n  writeFile();\n}\n",
  });
  expect(explained.message).toBe(
    "ENOENT: no such file or directory, open '/nowhere/guests.log'\n" +
      "The promise of appendFile was not awaited. Write `await` in front of the call.",
  );
  expect(explained.location).toBe("src/log.server.ts:5:3");
  expect(explained.frame).toContain('appendFile("/nowhere/guests.log", "x");');
});

it("names all calls of which one has failed, and the functions if no call is found", async () => {
  const error = await failed(appendFile("/nowhere/guests.log", "x"));
  const two = await explain(error, {
    "src/a.server.ts": `${IMPORT}fs.writeFile("a", "b");\nvoid appendFile("a", "b");\n`,
  });
  expect(two.message).toContain(
    "The promise of writeFile or appendFile was not awaited. src/a.server.ts:3 and src/a.server.ts:4 call it. Write `await`",
  );
  expect(two.location).toBe("");
  const none = await explain(error, { "src/a.server.ts": `${IMPORT}run(() => appendFile("a", "b"));\n` });
  expect(none.message).toContain("The promise of writeFile or appendFile was not awaited. Write `await`");
});

it("other errors stay as they are", async () => {
  const awaited = async () => {
    await readFile("/nowhere/guests.log");
  };
  for (const error of [await failed(awaited()), new Error("no file"), "text", undefined]) {
    expect(await withUnawaitedFileCall(error, "/nowhere")).toBe(error);
  }
});
