/**
 * The development server without a browser: after edits it responds as a server would that was started afterwards.
 */
import { renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

let site: TestProject;
let dev: RunningServer;

beforeAll(async () => {
  site = TestProject.copy();
  site.edit("src/pages.server.tsx", "No view here", "Word: {WORD}");
  site.edit("src/pages.server.tsx", 'import "./pages.css";', 'import { WORD } from "./words";');
  site.write("src/words.ts", 'export const WORD = "old";\n');
  site.edit("src/app.ts", "App({", "App({ on_start: jobs.start, on_stop: jobs.stop,");
  site.edit("src/app.ts", 'import "./app.css";', 'import * as jobs from "./jobs.ts";\nimport "./app.css";');
  site.write("src/jobs.ts", JOBS);
  site.write("src/name.ts", 'export const NAME = "old";\n');
  dev = await startDev(site.dir);
  expect(await page("/plain")).toContain("Word: old");
});

afterAll(async () => {
  const code = await dev?.stop();
  site?.remove();
  expect(code).toBe(0);
});

/** Work beside the requests, which notes what happens. Nothing restarts it after `stop` but the module itself. */
const JOBS = `import { appendFileSync } from "node:fs";
import { NAME } from "./name.ts";
const note = (event: string) => appendFileSync("node_modules/jobs.log", event + "\\n");
note("run " + NAME);
const state = { isStopped: false };
export async function start() {
  if (state.isStopped) throw new Error("The module was stopped and has not run again");
  await new Promise((resolve) => setTimeout(resolve, 1));
  note("start " + NAME);
}
export async function stop() {
  await new Promise((resolve) => setTimeout(resolve, 1));
  state.isStopped = true;
  note("stop " + NAME);
}
`;

const jobs = () => site.read("node_modules/jobs.log").trimEnd().split("\n");

async function page(path: string): Promise<string> {
  return (await fetch(dev.address + path)).text();
}

/** Edits files, and waits until the server has processed the edits. */
async function change(...edits: (() => void)[]): Promise<void> {
  const count = async () => Number.parseInt(await page("/__web/dev/@tsweb/edits"), 10);
  const before = await count();
  for (const edit of edits) edit();
  await expect.poll(count).toBeGreaterThan(before);
  await waitUntilSettled();
}

const waitUntilSettled = () => expect.poll(() => page("/__web/dev/@tsweb/edits")).not.toMatch(/\+$/);

/** Writes a Vite config, and waits until Vite has restarted with it. */
async function restart(config: string): Promise<void> {
  const restarts = () => dev.output().split("server restarted").length;
  const before = restarts();
  site.write("vite.config.ts", config);
  await expect.poll(restarts).toBeGreaterThan(before);
  await waitUntilSettled();
}

const edit = (file: string, code: string, replacement: string) => () => {
  site.edit(file, code, replacement);
};

it("starts the application without a request, and after an edit of a module stops it before the new one runs", async () => {
  expect(jobs()).toEqual(["run old", "start old"]);
  const revert = site.edit("src/name.ts", "old", "new");
  await expect.poll(jobs).toEqual(["run old", "start old", "stop old", "run new", "start new"]);
  revert();
  await expect.poll(() => jobs().slice(5)).toEqual(["stop new", "run old", "start old"]);
  await waitUntilSettled();
});

it("runs what on_stop has closed again, although another module was edited", async () => {
  const before = jobs();
  const revert = site.edit("src/pages.server.tsx", "Word: ", "Text: ");
  await expect.poll(() => page("/plain")).toContain("Text: old");
  expect(jobs().slice(before.length)).toEqual(["stop old", "run old", "start old"]);
  await change(revert);
  expect(await page("/plain")).toContain("Word: old");
});

it("shows an error of on_start until the next edit, which tries again, also without a request", async () => {
  await change(edit("src/jobs.ts", "if (state.isStopped) throw new Error(", "throw new Error(String() && "));
  for (const _request of [1, 2]) {
    const shown = await page("/plain");
    expect(shown).toContain("on_start of new App failed");
    expect(shown).toContain("src/jobs.ts:7:");
  }
  const before = jobs();
  expect(before.slice(-2)).toEqual(["stop old", "run old"]);
  await change(edit("src/jobs.ts", "throw new Error(String() && ", "if (state.isStopped) throw new Error("));
  await expect.poll(() => jobs().slice(before.length)).toEqual(["stop old", "run old", "start old"]);
  expect(await page("/plain")).toContain("Word: old");
});

it("waits for on_stop for at most 2 seconds after an edit, and logs that", async () => {
  await change(edit("src/jobs.ts", "state.isStopped = true;", "await new Promise(() => {});"));
  await page("/plain"); // loads the edited application, if nothing has yet
  const revert = edit("src/jobs.ts", "await new Promise(() => {});", "state.isStopped = true;");
  await change(revert);
  expect(await page("/plain")).toContain("Word: old");
  expect(dev.output()).toContain("on_stop of new App has not ended in time. The application does not wait for it");
});

it("calls the dispose hooks of the modules that run again, after on_stop and before they run", async () => {
  const timer = `import { note } from "./jobs.ts";
const name = "old timer";
const interval = setInterval(() => undefined, 1_000);
note("run " + name);
import.meta.hot?.dispose(async () => {
  clearInterval(interval);
  await new Promise((resolve) => setTimeout(resolve, 1));
  note("dispose " + name);
  if (name === "bad timer") throw new Error("thrown by a hook");
});
`;
  const eventsOf = async (revert: () => void) => {
    await page("/plain"); // loads the application with the edits before
    const before = jobs().length;
    await change(revert);
    expect(await page("/plain")).toContain("Word: old");
    return jobs().slice(before);
  };
  await change(edit("src/jobs.ts", "const note", "export const note"));
  await change(
    () => site.write("src/timer.ts", timer),
    edit("src/app.ts", 'import "./app.css";', 'import "./timer.ts";\nimport "./app.css";'),
  );
  const stopAndRunAll = ["stop old", "dispose old timer", "run old", "run new timer", "start old"];
  expect(await eventsOf(edit("src/timer.ts", "old", "new"))).toEqual(stopAndRunAll);
  const withoutStop = await eventsOf(edit("src/app.ts", " on_stop: jobs.stop,", ""));
  expect(withoutStop).toEqual(["stop old", "dispose new timer", "run old", "run new timer", "start old"]);
  expect(await eventsOf(edit("src/pages.server.tsx", "Word: ", " Word: "))).toEqual(["start old"]);
  expect(await eventsOf(edit("src/timer.ts", "new", "bad"))).toEqual([
    "dispose new timer",
    "run bad timer",
    "start old",
  ]);
  expect(await eventsOf(edit("src/timer.ts", "bad", "old"))).toEqual([
    "dispose bad timer",
    "run old timer",
    "start old",
  ]);
  expect(dev.output()).toMatch(
    /A hook of import\.meta\.hot\.dispose\(\) failed:\nError: thrown by a hook\nsrc\/timer\.ts:9:35\n/,
  );
  await change(edit("src/app.ts", "on_start: jobs.start,", "on_start: jobs.start, on_stop: jobs.stop,"));
  await change(edit("src/app.ts", 'import "./timer.ts";\n', ""), edit("src/pages.server.tsx", " Word: ", "Word: "));
});

it("finds a missing file that was created before the next request", async () => {
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

it("loads an application again after a failure that was not caused by its files", async () => {
  const wait =
    'import { existsSync } from "node:fs";\nif (!existsSync("node_modules/ready")) throw new Error("Not ready");\n';
  await change(edit("src/words.ts", "export", `${wait}export`));
  expect(await page("/plain")).toContain("Not ready");
  site.write("node_modules/ready", "");
  expect(await page("/plain")).toContain("Word: old");
  await change(edit("src/words.ts", wait, ""));
});

it("shows an error that Vite reports without a file", async () => {
  const revert = site.edit("src/pages.server.tsx", "import Note", 'import "./invalid.css";\nimport Note');
  await change(() => site.write("src/invalid.css", '@import "./nowhere.css";\n'));
  expect(await page("/plain")).toMatch(/<h1>.*nowhere\.css/s);
  await change(revert);
  expect(await page("/plain")).toContain("Word: old");
});

it("finds an imported style sheet that is created later", async () => {
  const revert = site.edit("src/pages.server.tsx", "import Note", 'import "./whole.css";\nimport Note');
  await change(() => site.write("src/whole.css", '@import "./part.css";\n'));
  expect(await page("/plain")).toMatch(/<h1>.*part\.css/s);
  await change(() => site.write("src/part.css", "p { color: red; }\n"));
  expect(await page("/plain")).toContain("Word: old");
  const sheet = await fetch(`${dev.address}/__web/dev/src/whole.css`, { headers: { accept: "text/css" } });
  expect(await sheet.text()).toContain("color: red");
  await change(revert);
});

it("finds an imported image and data file that are created later, and their edits", async () => {
  const imports =
    'import data from "./missing.json";\nimport image from "./missing.png";\nif (data !== 1) throw new Error(image);\n';
  await change(edit("src/words.ts", "export", `${imports}export`));
  expect(await page("/plain")).toContain("missing.json");
  await change(() => site.write("src/missing.json", "2"));
  expect(await page("/plain")).toContain("missing.png");
  await change(() => site.write("src/missing.png", ""));
  expect(await page("/plain")).toMatch(/<h1>[^<]*missing\.png/);
  await change(() => site.write("src/missing.json", "1"));
  expect(await page("/plain")).toContain("Word: old");
  await change(edit("src/words.ts", imports, ""));
});

it("does not count files as edits that the application writes", async () => {
  const count = async () => Number.parseInt(await page("/__web/dev/@tsweb/edits"), 10);
  const before = await count();
  const files = ["orders.txt", "data/avatars/1.png", "data/order.json", "shop.sqlite", "src/server.log"];
  for (const text of ["created", "changed"]) {
    for (const file of files) site.write(file, text);
    await setTimeout(100); // at once, the watcher would report a creation only
  }
  rmSync(site.file("data"), { recursive: true });
  await setTimeout(100);
  // The watcher reports this edit after the others.
  const revert = site.edit("src/words.ts", '"old"', '"next"');
  await expect.poll(() => page("/plain")).toContain("Word: next");
  await expect.poll(count).toBe(before + 1);
  await change(revert);
});

it("shows an error without the colours that Vite writes for a terminal", async () => {
  await change(edit("src/words.ts", '"old"', ""));
  const shown = await page("/plain");
  expect(shown).toContain("PARSE_ERROR");
  expect(shown).not.toContain("\u001b");
  await change(edit("src/words.ts", "WORD = ", 'WORD = "old"'));
});

it("finds a folder with an index file that replaces a file of the same name", async () => {
  await change(
    () => rmSync(site.file("src/words.ts")),
    () => site.write("src/words/index.ts", 'export const WORD = "new";\n'),
  );
  expect(await page("/plain")).toContain("Word: new");
});

it("detects edits in a folder that was deleted and created again at once", async () => {
  const writeWord = (word: string) => site.write("src/words/index.ts", `export const WORD = "${word}";\n`);
  await change(
    () => rmSync(site.file("src/words"), { recursive: true }),
    () => writeWord("created again"),
  );
  expect(await page("/plain")).toContain("Word: created again");
  writeWord("and edited");
  await expect.poll(() => page("/plain")).toContain("Word: and edited");
  await change(() => writeWord("new"));
});

it("detects an edit that sets the modification time of a file back", async () => {
  const file = site.file("src/words/index.ts");
  const { atime, mtime } = statSync(file);
  site.write("src/other.ts", 'export const WORD = "old";\n');
  utimesSync(site.file("src/other.ts"), atime, mtime);
  renameSync(site.file("src/other.ts"), file);
  await expect.poll(() => page("/plain")).toContain("Word: old");
  await change(edit("src/words/index.ts", '"old"', '"new"'));
});

it("responds with 404 for a deleted file that was once deleted while it was written", async () => {
  const status = async () => (await fetch(`${dev.address}/__web/dev/src/draft.ts`)).status;
  const reference = 'export const later = () => import("./draft.ts");\n';
  site.write("src/draft.ts", "export {};\n");
  await change(edit("src/note.tsx", "import styles", `${reference}import styles`));
  expect(await page("/__web/dev/src/note.tsx")).toContain("draft.ts");
  for (let lines = 1; lines < 40; lines++) {
    site.write("src/draft.ts", "// More\n".repeat(lines));
    await setTimeout(5);
  }
  rmSync(site.file("src/draft.ts"));
  await change(() => site.write("src/draft.ts", "export {};\n"));
  expect(await status()).toBe(200);
  rmSync(site.file("src/draft.ts"));
  await expect.poll(status).toBe(404);
  await change(edit("src/note.tsx", reference, ""));
});

it("accepts a server function that is renamed together with its callers", async () => {
  expect((await fetch(`${dev.address}/__web/dev/src/counter.tsx`)).status).toBe(200);
  await change(
    edit("src/functions.server.ts", "greet", "welcome"),
    edit("src/counter.tsx", "{ greet }", "{ welcome }"),
    edit("src/counter.tsx", "greet(own.name)", "welcome(own.name)"),
  );
  // The system may report the edits one after the other.
  await expect.poll(() => page("/")).toContain("Home page");
  await expect.poll(() => page("/__web/dev/src/counter.tsx")).toContain("welcome(own.name)");
});

it("updates the stubs of a module when a re-exported module changes", async () => {
  const stubs = "/__web/dev/@id/__x00__tsweb-stub:src/functions.server.ts.js";
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

it("checks the callers of a re-exported function again when it is removed", async () => {
  const note = async () => (await fetch(`${dev.address}/__web/dev/src/note.tsx`)).ok;
  const call = 'import { ping } from "./functions.server.ts";\nvoid ping;\n';
  await change(edit("src/note.tsx", "import styles", `${call}import styles`));
  expect(await note()).toBe(true);
  await change(edit("src/deep.server.ts", "const ping", "const pong"));
  expect(await note()).toBe(false);
  await change(edit("src/deep.server.ts", "const pong", "const ping"));
  expect(await note()).toBe(true);
  await change(edit("src/note.tsx", call, ""));
});

it("accepts a call of a removed function in a view that no page renders any more", async () => {
  expect(await page("/__web/dev/src/counter.tsx")).toContain("welcome(own.name)");
  expect(await page("/")).toContain("Home page");
  await change(
    edit("src/pages.server.tsx", 'import { Counter } from "./counter.tsx";\n', ""),
    edit("src/pages.server.tsx", "<Counter start={3} />", ""),
  );
  // The application module on its own: otherwise the server may detect it first, while the page still renders the view.
  await change(
    edit("src/app.ts", "[pages, functions]", "[pages]"),
    edit("src/app.ts", 'import * as functions from "./functions.server.ts";\n', ""),
  );
  await expect.poll(() => page("/")).toContain("Home page");
});

it("continues to serve after the Vite config was edited", async () => {
  await restart("export default {};\n");
  expect(await page("/plain")).toContain("Word: new");
  // Vite may restart once more. Then nothing reports the edit, because no module was loaded before it.
  site.edit("src/words/index.ts", '"new"', '"newer"');
  await expect.poll(() => page("/plain")).toContain("Word: newer");
});

it("finds a missing file that the watcher ignores", async () => {
  const config = 'export default { server: { watch: { ignored: ["**/ignored.*"] } } };\n';
  await restart(config);
  expect(await page("/plain")).toContain("Word: newer");
  await change(edit("src/note.tsx", "import styles", 'import "./words/index.ts";\nimport styles'));
  expect(await page("/__web/dev/src/note.tsx")).toContain("words/index.ts");
  await change(edit("src/words/index.ts", "export", 'import "./ignored.ts";\nimport "./ignored.css";\nexport'));
  const script = async () => (await fetch(`${dev.address}/__web/dev/src/words/index.ts`)).ok;
  expect(await page("/plain")).toContain("&quot;./ignored.ts&quot; does not exist");
  expect(await script()).toBe(false);
  site.write("src/words/ignored.ts", "");
  site.write("src/words/ignored.css", "");
  expect(await page("/plain")).toContain("Word: newer");
  expect(await script()).toBe(true);
});

it("names the application module that was renamed after the start, and continues when it has its name again", async () => {
  const [before, after] = [site.file("src/app.ts"), site.file("src/app.tsx")];
  renameSync(before, after);
  await expect
    .poll(() => page("/plain"))
    .toContain("src/app.ts does not exist any more, but src/app.tsx does. Start tsweb dev again.");
  renameSync(after, before);
  await expect.poll(() => page("/plain")).toContain("Word: newer");
});

it("names a module that declares the page of a request and is not imported, until it is imported and listed", async () => {
  await change(() =>
    site.write(
      "src/late-page.server.tsx",
      'import { page } from "tsweb";\nexport const late = page("/late-page", () => <p>Here</p>);\n',
    ),
  );
  expect(await page("/late-page")).toContain("src/late-page.server.tsx:2 declares a page for this address");
  await change(
    edit("src/app.ts", "import { App", 'import * as late from "./late-page.server.tsx";\nimport { App'),
    edit("src/app.ts", "[pages]", "[late, pages]"),
  );
  expect(await page("/late-page")).toContain("<p>Here</p>");
});
