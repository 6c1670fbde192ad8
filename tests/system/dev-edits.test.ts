/**
 * The development server without a browser: what it answers after edits is what a fresh one would.
 */
import { renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Running, startDev } from "#test/run-tsweb";
import { Site } from "#test/site";

let site: Site;
let dev: Running;

beforeAll(async () => {
  site = Site.copy();
  site.edit("src/pages.server.tsx", "No view here", "Word: {WORD}");
  site.edit("src/pages.server.tsx", 'import "./pages.css";', 'import { WORD } from "./words";');
  site.write("src/words.ts", 'export const WORD = "old";\n');
  dev = await startDev(site.dir);
  expect(await page("/plain")).toContain("Word: old");
});

afterAll(async () => {
  const code = await dev?.stop();
  site?.remove();
  expect(code).toBe(0);
});

async function page(path: string): Promise<string> {
  return (await fetch(dev.address + path)).text();
}

/** Waits until the server has taken note of all edits. */
async function settled(edits: string): Promise<void> {
  const told = async () => (await fetch(`${dev.address}/@tsweb/edits`)).text();
  await expect.poll(async () => (await told()) !== edits && !(await told()).endsWith("+")).toBe(true);
}

/** Makes edits, and waits until they have taken effect. */
async function change(...edits: (() => void)[]): Promise<void> {
  const before = await page("/@tsweb/edits");
  for (const edit of edits) edit();
  await settled(before);
}

const edit = (file: string, part: string, other: string) => () => {
  site.edit(file, part, other);
};

it("a missing file is found that came before anybody asked", async () => {
  await change(
    edit("src/pages.server.tsx", "import { WORD }", 'import { LATE as WORD } from "./late.ts";\nimport { WORD as _ }'),
  );
  await change(() => site.write("src/late.ts", 'export const LATE = "late";\n'));
  expect(await page("/plain")).toContain("Word: late");
  await change(
    edit("src/pages.server.tsx", "LATE as WORD", "LATE as _"),
    edit("src/pages.server.tsx", "WORD as _", "WORD"),
  );
});

it("an application is loaded anew that failed for something else than its files", async () => {
  const wait =
    'import { existsSync } from "node:fs";\nif (!existsSync("node_modules/ready")) throw new Error("Not ready");\n';
  await change(edit("src/words.ts", "export", `${wait}export`));
  expect(await page("/plain")).toContain("Not ready");
  site.write("node_modules/ready", "");
  expect(await page("/plain")).toContain("Word: old");
  await change(edit("src/words.ts", wait, ""));
});

it("a mistake that the build tool gives no file for is shown all the same", async () => {
  const mend = site.edit("src/pages.server.tsx", "import Note", 'import "./gone.css";\nimport Note');
  await change(() => site.write("src/gone.css", '@import "./nowhere.css";\n'));
  expect(await page("/plain")).toMatch(/<h1>.*nowhere\.css/s);
  await change(mend);
  expect(await page("/plain")).toContain("Word: old");
});

it("a style sheet that another imports is found when it comes", async () => {
  const mend = site.edit("src/pages.server.tsx", "import Note", 'import "./whole.css";\nimport Note');
  await change(() => site.write("src/whole.css", '@import "./part.css";\n'));
  expect(await page("/plain")).toMatch(/<h1>.*part\.css/s);
  await change(() => site.write("src/part.css", "p { color: red; }\n"));
  expect(await page("/plain")).toContain("Word: old");
  const sheet = await fetch(`${dev.address}/src/whole.css`, { headers: { accept: "text/css" } });
  expect(await sheet.text()).toContain("color: red");
  await change(mend);
});

it("a mistake that the build tool writes of in colours is shown without", async () => {
  await change(edit("src/words.ts", '"old"', ""));
  const shown = await page("/plain");
  expect(shown).toContain("PARSE_ERROR");
  expect(shown).not.toContain("\u001b");
  await change(edit("src/words.ts", "WORD = ", 'WORD = "old"'));
});

it("a file that takes the place of another of the same name is found", async () => {
  await change(
    () => rmSync(site.file("src/words.ts")),
    () => site.write("src/words/index.ts", 'export const WORD = "new";\n'),
  );
  expect(await page("/plain")).toContain("Word: new");
});

it("a folder that is deleted and made again at once is still heard of", async () => {
  const make = (word: string) => site.write("src/words/index.ts", `export const WORD = "${word}";\n`);
  await change(
    () => rmSync(site.file("src/words"), { recursive: true }),
    () => make("made again"),
  );
  expect(await page("/plain")).toContain("Word: made again");
  make("and edited");
  await expect.poll(() => page("/plain")).toContain("Word: and edited");
  await change(() => make("new"));
});

it("a file is seen whose time is set back", async () => {
  const file = site.file("src/words/index.ts");
  const { atime, mtime } = statSync(file);
  site.write("src/other.ts", 'export const WORD = "old";\n');
  utimesSync(site.file("src/other.ts"), atime, mtime);
  renameSync(site.file("src/other.ts"), file);
  await expect.poll(() => page("/plain")).toContain("Word: old");
  await change(edit("src/words/index.ts", '"old"', '"new"'));
});

it("a file that was deleted while it was written, and came again, is not answered once it is gone", async () => {
  const status = async () => (await fetch(`${dev.address}/src/draft.ts`)).status;
  for (let lines = 1; lines < 40; lines++) {
    site.write("src/draft.ts", "// More\n".repeat(lines));
    await setTimeout(5);
  }
  rmSync(site.file("src/draft.ts"));
  await change(() => site.write("src/draft.ts", "export {};\n"));
  expect(await status()).toBe(200);
  rmSync(site.file("src/draft.ts"));
  await expect.poll(status).toBe(404);
});

it("a server function may be renamed together with its callers", async () => {
  expect((await fetch(`${dev.address}/src/counter.tsx`)).status).toBe(200);
  await change(
    edit("src/functions.server.ts", "greet", "welcome"),
    edit("src/counter.tsx", "{ greet }", "{ welcome }"),
    edit("src/counter.tsx", "greet(own.name)", "welcome(own.name)"),
  );
  expect(await page("/")).toContain("Home page");
  expect(await page("/src/counter.tsx")).toContain("welcome(own.name)");
});

it("the stubs of a module follow those that it hands on", async () => {
  const stubs = "/@id/__x00__tsweb-stub:src/functions.server.ts.js";
  site.write("src/deep.server.ts", "");
  await change(
    edit("src/functions.server.ts", "export const hidden", 'export * from "./deep.server.ts";\nexport const hidden'),
  );
  expect(await page(stubs)).not.toContain("export { ping }");
  await change(() =>
    site.write("src/deep.server.ts", 'import { server } from "tsweb";\nexport const ping = server(() => "pong");\n'),
  );
  expect(await page(stubs)).toContain("export { ping }");
});

it("what calls a function that is handed on is checked again when that is gone", async () => {
  const note = async () => (await fetch(`${dev.address}/src/note.tsx`)).ok;
  const call = 'import { ping } from "./functions.server.ts";\nvoid ping;\n';
  await change(edit("src/note.tsx", "import styles", `${call}import styles`));
  expect(await note()).toBe(true);
  await change(edit("src/deep.server.ts", "const ping", "const pong"));
  expect(await note()).toBe(false);
  await change(edit("src/deep.server.ts", "const pong", "const ping"));
  expect(await note()).toBe(true);
  await change(edit("src/note.tsx", call, ""));
});

it("a view that no page shows any more needs no server function", async () => {
  expect(await page("/src/counter.tsx")).toContain("welcome(own.name)");
  expect(await page("/")).toContain("Home page");
  await change(
    edit("src/pages.server.tsx", 'import { Counter } from "./counter.tsx";\n', ""),
    edit("src/pages.server.tsx", "<Counter start={3} />", ""),
    edit("src/app.ts", "[pages, functions]", "[pages]"),
    edit("src/app.ts", 'import * as functions from "./functions.server.ts";\n', ""),
  );
  expect(await page("/")).toContain("Home page");
});

it("the application goes on when the project's Vite config is edited", async () => {
  await change(() => site.write("vite.config.ts", "export default {};\n"));
  await expect.poll(() => page("/plain")).toContain("Word: new");
  await change(edit("src/words/index.ts", '"new"', '"newer"'));
  expect(await page("/plain")).toContain("Word: newer");
});

it("a missing file is found whose coming nobody was told of", async () => {
  const ignoring = 'export default { server: { watch: { ignored: ["**/unheard.*"] } } };\n';
  await change(() => site.write("vite.config.ts", ignoring));
  await expect.poll(() => page("/plain")).toContain("Word: newer");
  await change(edit("src/words/index.ts", "export", 'import "./unheard.ts";\nimport "./unheard.css";\nexport'));
  const script = async () => (await fetch(`${dev.address}/src/words/index.ts`)).ok;
  expect(await page("/plain")).toContain("Failed to load url ./unheard.ts");
  expect(await script()).toBe(false);
  site.write("src/words/unheard.ts", "");
  site.write("src/words/unheard.css", "");
  expect(await page("/plain")).toContain("Word: newer");
  expect(await script()).toBe(true);
});
