// The templates of `tsweb new`: template/, the examples with the configuration of template/, and deploy/. Each is written into one
// file, because npm would leave .gitignore files out of the package.
import { isUtf8 } from "node:buffer";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The examples that are templates. */
const EXAMPLES = ["accounts", "board", "chat"];

/** Files that exist if a template was run in place. */
const IGNORED = /^(node_modules|dist|\.data|\.tsweb)\/|^package-lock\.json$/;

/** Files of template/ that all templates have. */
const SHARED = ["AGENTS.md", "vitest.config.ts"];

/** Writes the templates into a folder. */
export function writeTemplates(root, target) {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const minimal = readFiles(join(root, "template"));
  const templates = { minimal };
  for (const name of EXAMPLES) templates[name] = fromExample(readFiles(join(root, "examples", name)), minimal);
  for (const [name, files] of Object.entries(templates)) {
    writeFileSync(join(target, `${name}.json`), JSON.stringify(files));
  }
  writeFileSync(join(target, "deploy.json"), JSON.stringify(deployment(root)));
}

/** The files of deploy/, and a package.json with the packages that they need: they use Redis. */
function deployment(root) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const manifest = { dependencies: { ioredis: devDependencies.ioredis } };
  return { ...readFiles(join(root, "deploy")), "package.json": JSON.stringify(manifest) };
}

/** Returns the texts of the files in a folder, by their names. */
function readFiles(folder) {
  const names = readdirSync(folder, { recursive: true })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => !IGNORED.test(name) && statSync(join(folder, name)).isFile())
    .sort();
  return Object.fromEntries(names.map((name) => [name, readText(join(folder, name))]));
}

/** Returns the text of a file. Most images are not UTF-8, and would be damaged; template/public/favicon.ico was made to be UTF-8. */
function readText(file) {
  const bytes = readFileSync(file);
  if (!isUtf8(bytes)) throw new Error(`${file} is not UTF-8, so a template cannot contain it. Use an image in SVG.`);
  return bytes.toString("utf8");
}

/** Returns the files of an example as a project outside of this repository. */
function fromExample(example, minimal) {
  return {
    ...Object.fromEntries(SHARED.map((name) => [name, minimal[name]])),
    ...example,
    ".gitignore": [...new Set(`${minimal[".gitignore"]}${example[".gitignore"]}`.split(/(?<=\n)/))].join(""),
    "README.md": readmeOf(example["README.md"], minimal["README.md"]),
    "package.json": manifestOf(example["package.json"], minimal["package.json"]),
    "tsconfig.json": typeScriptConfigOf(example["tsconfig.json"], minimal["tsconfig.json"]),
  };
}

/** The scripts and tools of template/, and the dependencies and additional scripts of the example. */
function manifestOf(exampleText, minimalText) {
  const [example, minimal] = [JSON.parse(exampleText), JSON.parse(minimalText)];
  const manifest = {
    ...minimal,
    scripts: { ...example.scripts, ...minimal.scripts },
    dependencies: { ...example.dependencies, ...minimal.dependencies },
    devDependencies: { ...example.devDependencies, ...minimal.devDependencies },
    ...(example.tsweb && { tsweb: example.tsweb }),
  };
  return JSON.stringify(manifest, null, 2);
}

/** The options of the example, with the paths of a project that has packages of its own. */
function typeScriptConfigOf(exampleText, minimalText) {
  const { compilerOptions } = JSON.parse(exampleText);
  const { include } = JSON.parse(minimalText);
  if (compilerOptions.paths) compilerOptions.paths = mapValues(compilerOptions.paths, ([path]) => packagePaths(path));
  return `${JSON.stringify({ compilerOptions, include }, null, 2)}\n`;
}

/** Returns the places of a package that tsweb depends on: as npm, Yarn and Bun install it, and as pnpm does. */
function packagePaths(path) {
  const name = path.replace("../../node_modules/", "");
  return [`./node_modules/${name}`, `./node_modules/.pnpm/node_modules/${name}`];
}

const mapValues = (object, fn) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, fn(value)]));

/**
 * The introduction of the example, the commands of template/, the files of the example and what follows them, and the
 * last section of template/.
 */
function readmeOf(example, minimal) {
  const [, intro] = match(example, /^# .+\n\n([\s\S]+?)\n\n(?:<img|```sh)/);
  const [description] = match(example, /^\| file \| contents \|\n[\s\S]+/m);
  const [commands] = match(minimal, /^```sh\n[\s\S]+?^```$/m);
  const [production] = match(minimal, /^## Production\n[\s\S]+/m);
  return `# my-app\n\n${intro}\n\n${commands}\n\n${description.trimEnd()}\n\n${production}`
    .replaceAll("](../../docs/", "](node_modules/tsweb/docs/")
    .replace(/\[([^\]]+)\]\(\.\.\/[^)]+\)/g, "$1");
}

function match(text, pattern) {
  const found = pattern.exec(text);
  if (!found) throw new Error(`A README.md of a template has no part ${pattern}. Change it, or scripts/templates.mjs.`);
  return found;
}
