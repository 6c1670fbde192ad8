/**
 * "Go to definition" with TypeScript 5.9 and 6, whose `tsserver` editors run. `definition.test.ts` checks it with the
 * language server of TypeScript 7.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/** A place in a file, as `tsserver` writes it. Lines and columns count from 1. */
interface Place {
  readonly file: string;
  readonly start: { readonly line: number; readonly offset: number };
}

/** Where the names in the project of `template/` are defined: the file, the text before the name, and the definition. */
const DEFINITIONS = [
  [
    "src/greeter.tsx",
    "form.greeting = await ",
    "src/greetings.server.ts: export const greet = server((name: string) => {",
  ],
  ["src/pages.server.tsx", "</h1>\n    <", "src/greeter.tsx: export const Greeter = view(() => {"],
] as const;

/**
 * Checks that a call in a view leads to the server function, and a view in a page to the view.
 *
 * @param typescript the folder of the package
 * @param dir a project of `template/`
 * @throws Error with the places where the names are defined instead
 */
export async function checkDefinitions(typescript: string, dir: string): Promise<void> {
  for (const [file, before, expected] of DEFINITIONS) {
    const places = (await definitionAfter(typescript, join(dir, file), before)).map(({ file, start }) => {
      return `${relative(dir, file)}: ${readFileSync(file, "utf8").split("\n")[start.line - 1]?.trim()}`;
    });
    if (places.join("\n") !== expected) {
      throw new Error(
        `The name after "${before}" in ${file} is defined in:\n${places.join("\n")}\nExpected:\n${expected}`,
      );
    }
  }
}

/** Returns where a word is defined that follows a text in a file. */
async function definitionAfter(typescript: string, file: string, before: string): Promise<readonly Place[]> {
  const content = readFileSync(file, "utf8");
  const index = content.indexOf(before);
  if (index < 0) throw new Error(`${file} does not contain "${before}".`);
  const lines = content.slice(0, index + before.length).split("\n");
  const place = { file, line: lines.length, offset: (lines.at(-1)?.length ?? 0) + 1 };
  const server = spawn(process.execPath, [join(typescript, "lib/tsserver.js"), "--disableAutomaticTypingAcquisition"]);
  const errors = text(server.stderr);
  const requests = [
    { seq: 1, type: "request", command: "open", arguments: { file } },
    { seq: 2, type: "request", command: "definition", arguments: place },
  ];
  server.stdin.write(requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
  const output: string[] = [];
  for await (const line of createInterface(server.stdout)) {
    output.push(line);
    if (!line.includes('"command":"definition"')) continue;
    server.stdin.end(); // the server exits; before, it would not write its response
    const { success, body, message } = JSON.parse(line);
    if (success === true) return body;
    throw new Error(message);
  }
  throw new Error(`tsserver has not responded:\n${output.join("\n")}\n${await errors}`);
}
