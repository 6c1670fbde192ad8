import { expect, it, onTestFinished } from "vitest";
import { TestProject } from "#test/test-project";
import { htmlFileNotes } from "./project.ts";

function notesOf(files: Readonly<Record<string, string>>, publicDir = "public"): string[] {
  const project = TestProject.fromFiles(files);
  onTestFinished(() => project.remove());
  return htmlFileNotes(project.dir, publicDir && project.file(publicDir));
}

it("names index.html in the folder of public files, which is not the start page", () => {
  expect(notesOf({ "public/index.html": "<h1>Shop</h1>" })).toEqual([
    'public/index.html is served at /index.html, and is not the page "/". Write its markup as `export const home = page("/", ' +
      "() => <main>…</main>)` in a module that `modules` of new App lists, and delete the file.",
  ]);
  expect(notesOf({ "static/index.html": "" }, "static")[0]).toContain("static/index.html is served at /index.html");
});

it.each(['<script type="module" src="/src/main.tsx"></script>', "<script src=./src/main.tsx type=module></script>"])(
  "names the index.html of a Vite application with its script: %s",
  (script) => {
    const notes = notesOf({ "index.html": `<!doctype html>\n<div id="root"></div>\n${script}\n`, "src/main.tsx": "" });
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(
      "index.html:3 loads /src/main.tsx, as an application of Vite does. tsweb does not use this file. Write the markup of the " +
        'page as `export const home = page("/", ',
    );
  },
);

it.each<[string, Readonly<Record<string, string>>, string?]>([
  [
    "a document without a script of the project",
    { "index.html": "<h1>Notes</h1><script src='https://a.example/x.js'></script>" },
  ],
  ["a document whose script does not exist", { "index.html": '<script src="/src/main.tsx"></script>' }],
  ["a script in a comment", { "index.html": '<!-- <script src="/src/main.tsx"></script> -->', "src/main.tsx": "" }],
  ["other public files", { "public/google123.html": "x", "public/about/index.html": "x" }],
  ["a folder that is not public", { "public/index.html": "x" }, ""],
])("is silent about %s", (_what, files, publicDir) => {
  expect(notesOf(files, publicDir)).toEqual([]);
});
