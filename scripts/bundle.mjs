// Bundles the commands and the compile step in dist/: Node needs a quarter of a millisecond and more for each module that it
// loads. The other modules of dist/ stay single files too: builds of applications include only what they use. Node must have
// one instance of each for a command and the application. So the process of `tsweb dev` has bundles of all that both
// import, and runs with a condition under which the package exports them. The scripts that it adds to pages are bundled too.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

/** The folders of dist/ whose modules are bundled. */
const BUNDLED = ["cli", "compile"];

/** The modules that are started, registered or imported by their file names. They stay, and re-export the bundled ones. */
const ENTRIES = [
  "cli/index",
  "cli/load-app-child",
  "cli/dev/dev",
  "cli/dev/watchdog-worker",
  "compile/register",
  "compile/register-hooks",
  "compile/vite",
];

/** The scripts that the development server adds to pages, in src/cli/dev/page/. It serves them as they are. */
const PAGE_SCRIPTS = ["errors", "policy-violations", "error-page"].map((name) => `cli/dev/page/${name}`);

/** The folder of the bundles below dist/. */
const FOLDER = "cli/bundles";

/** The module of the process whose start developers wait for. */
const DEVELOPMENT_ENTRY = "cli/dev/child";

/** The condition of that process, by which it imports its bundles as the package. Also in src/cli/dev/messages.ts. */
const DEVELOPMENT_CONDITION = "tsweb-dev";

/** @param dist the compiled package */
export async function bundleCommands(dist) {
  await bundleDevelopment(dist);
  const folders = BUNDLED.map((name) => join(dist, name));
  const target = join(dist, FOLDER);
  const input = Object.fromEntries(ENTRIES.map((name) => [name.replaceAll("/", "-"), join(dist, `${name}.js`)]));
  const output = await bundle(dist, { input, target, folders });
  const pageScripts = await Promise.all(PAGE_SCRIPTS.map((name) => pageScript(join(dist, `${name}.js`))));
  for (const folder of folders) removeScripts(folder, target);
  PAGE_SCRIPTS.forEach((name, index) => {
    writeFileSync(join(dist, `${name}.js`), pageScripts[index]);
  });
  for (const name of ENTRIES) {
    const { exports } = output.find(({ isEntry, name: chunk }) => isEntry && chunk === name.replaceAll("/", "-"));
    writeEntry(dist, name, exports);
  }
  writeFileSync(join(dist, `${DEVELOPMENT_ENTRY}.js`), synchronousEntry('"../../development/child.js"'));
}

/** Bundles the process of `tsweb dev` together with all that the application imports from the package. */
async function bundleDevelopment(dist) {
  const { exports } = JSON.parse(readFileSync(join(dist, "../package.json"), "utf8"));
  const entries = Object.entries(exports).filter(([, conditions]) => conditions[DEVELOPMENT_CONDITION]);
  const nameOf = (conditions) => /([\w-]+)\.js$/.exec(conditions[DEVELOPMENT_CONDITION])[1];
  const input = Object.fromEntries(
    entries.map(([, conditions]) => [nameOf(conditions), join(dist, "..", conditions.default)]),
  );
  input.child = join(dist, `${DEVELOPMENT_ENTRY}.js`);
  await bundle(dist, { input, target: join(dist, "development"), folders: [dist] });
}

/**
 * Writes bundles.
 *
 * @param options `input`: the entries by name; `target`: the folder of the bundles; `folders`: those whose modules are bundled
 */
async function bundle(dist, { input, target, folders }) {
  const { rolldown } = await import(bundlerOfVite());
  rmSync(target, { recursive: true, force: true });
  const isBundled = (id) => folders.some((folder) => id.startsWith(`${folder}/`));
  const bundle = await rolldown({
    input,
    platform: "node",
    // Packages stay bare specifiers: resolved, they would be paths of this machine.
    external: (id, _importer, isResolved) => (isResolved ? !isBundled(id.replaceAll("\\", "/")) : isPackage(id)),
    plugins: [ownUrls(target)],
  });
  const { output } = await bundle.write({
    dir: target,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    paths: (id) => (id.startsWith(dist) ? relative(target, id).replaceAll("\\", "/") : id),
    comments: false,
  });
  await bundle.close();
  return output;
}

/** Returns the text of a script for browsers, with all that it imports. */
async function pageScript(input) {
  const { rolldown } = await import(bundlerOfVite());
  // Without the list of package.json, which says that scripts of commands have no side effects.
  const bundle = await rolldown({ input, platform: "browser", treeshake: { moduleSideEffects: () => true } });
  const { output } = await bundle.generate({ format: "esm", comments: false });
  await bundle.close();
  if (output.length > 1 || output[0].imports.length > 0) throw new Error(`${input} is not a single script.`);
  return output[0].code;
}

/** Returns whether a specifier is the name of a package or of a module of Node. */
function isPackage(specifier) {
  return !specifier.startsWith(".") && !isAbsolute(specifier);
}

/** Returns the URL of the bundler that Vite depends on. */
function bundlerOfVite() {
  const vite = createRequire(import.meta.url).resolve("vite");
  return pathToFileURL(createRequire(vite).resolve("rolldown")).href;
}

/** Keeps `import.meta.url` the URL of the module that contains it. */
function ownUrls(target) {
  return {
    name: "own-urls",
    transform(code, id) {
      const path = relative(target, id).replaceAll("\\", "/");
      const url = `new URL(${JSON.stringify(path)}, import.meta.url).href`;
      // From the end, so that the positions of the others stay valid. Texts are no expressions, and stay.
      const found = code.includes("import.meta.url") ? metaUrls(this.parse(code)) : [];
      const replace = (text, { start, end }) => text.slice(0, start) + url + text.slice(end);
      return found.length > 0 ? { code: found.toReversed().reduce(replace, code), map: null } : null;
    },
  };
}

/** Returns the expressions `import.meta.url` below a node, in source order. */
function metaUrls(node) {
  if (node === null || typeof node !== "object") return [];
  if (Array.isArray(node)) return node.flatMap(metaUrls);
  const isUrl = node.type === "MemberExpression" && node.object.type === "MetaProperty" && node.property.name === "url";
  return isUrl ? [node] : Object.values(node).flatMap(metaUrls);
}

/** Removes the scripts of a folder that were bundled. Their declarations stay. */
function removeScripts(folder, target) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (name.endsWith(".js") && !file.startsWith(target)) rmSync(file);
  }
}

function writeEntry(dist, name, exports) {
  const from = relative(dirname(join(dist, name)), join(dist, FOLDER)).replaceAll("\\", "/");
  const bundled = `${from.startsWith(".") ? from : `./${from}`}/${name.replaceAll("/", "-")}.js`;
  const path = JSON.stringify(bundled);
  const reExports = exports.length > 0 ? `export { ${exports.join(", ")} } from ${path};\n` : `import ${path};\n`;
  writeFileSync(join(dist, `${name}.js`), reExports);
}

/**
 * Returns an entry that loads a bundle with `require()`, which takes two thirds of the time of `import()`, and stores what
 * Node compiles. Loaders that the project has registered, such as those of OpenTelemetry, see modules that are imported only.
 */
function synchronousEntry(path) {
  return `import module, { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

// From Node 22.8 on. Who can write this folder can write the code itself.
module.enableCompileCache?.(fileURLToPath(new URL("../../.compile-cache/", import.meta.url)));
const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
const hasLoaders = /(?:--(?:import|require|(?:experimental-)?loader)|-r)\\b/.test(options);
if (process.features.require_module && !hasLoaders) createRequire(import.meta.url)(${path});
else await import(${path});
`;
}
