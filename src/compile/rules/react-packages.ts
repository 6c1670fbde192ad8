/**
 * The checks of installed packages that React libraries require: the names `react` and `react-dom` stand for
 * `@preact/compat`, and one copy of Preact is installed.
 */

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, relative } from "node:path";
import { ProjectError } from "../modules/index.ts";

const REACT = /^(react(?:-dom)?)(?:\/|$)/;

/** How libraries for React work in views. */
export const INSTALL_COMPAT =
  "Install Preact's compatibility package under React's names: npm install react@npm:@preact/compat react-dom@npm:@preact/compat";

/**
 * Rejects an import of React itself by browser code, which Preact renders.
 *
 * @param source the specifier
 * @param importer the importing file, absolute
 * @throws ProjectError if the specifier refers to React and not to `@preact/compat` under its name
 */
export function rejectReact(source: string, importer: string, root: string): void {
  const name = REACT.exec(source)?.[1];
  const folder = name && packageFolder(name, importer);
  if (!folder) return;
  const installed = readPackageJson(folder);
  if (installed.name !== name) return;
  const isNested = folder !== packageFolder(name, join(root, "package.json"));
  throw new ProjectError(
    `${relative(root, importer)} imports ${source}, which is React itself (${relative(root, folder)}, version ` +
      `${installed.version}). Views are rendered with Preact, so components of React do not work in them. ` +
      (isNested
        ? `Another package has brought this copy. Set ${name} to npm:@preact/compat in "overrides" of package.json too, ` +
          "and install again."
        : INSTALL_COMPAT),
  );
}

/** A copy of Preact, with the packages that load it. */
interface PreactCopy {
  readonly folder: string;
  readonly loadedBy: string[];
}

/**
 * Rejects a project in which tsweb, the application and the compatibility packages load several copies of Preact: hooks and
 * contexts of one fail in components that another renders, with errors that do not name the cause.
 *
 * @param root the application's folder
 * @throws ProjectError with the copies, and how to install one
 */
export function checkPreactCopies(root: string): void {
  const copies = preactCopies(root);
  const [own] = copies;
  if (!own || copies.length === 1) return;
  const list = copies.map(({ folder, loadedBy }) => {
    const { version } = readPackageJson(folder);
    return `  ${version} in ${relative(root, folder)}, loaded by ${loadedBy.join(" and ")}`;
  });
  const { version } = readPackageJson(own.folder);
  throw new ProjectError(
    `Several copies of Preact are installed, so hooks and contexts would fail:\n${list.join("\n")}\n` +
      `Install the one that tsweb loads: npm install preact@${version}, then npm dedupe`,
  );
}

/** Returns the copies of Preact that a project loads. The first is that of tsweb. */
function preactCopies(root: string): PreactCopy[] {
  const project = join(root, "package.json");
  const tsweb = packageFolder("tsweb", project);
  if (!tsweb) return []; // tsweb is not installed below this folder: nothing is known of what the application loads
  const loaders = new Map([["tsweb", tsweb], ...installedLoaders(project, tsweb), ["the application", root]]);
  const copies = new Map<string, PreactCopy>();
  for (const [name, folder] of loaders) {
    const preact = packageFolder("preact", join(folder, "package.json"));
    if (!preact) continue;
    const copy = copies.get(preact) ?? { folder: preact, loadedBy: [] };
    copies.set(preact, copy);
    copy.loadedBy.push(name);
  }
  return [...copies.values()];
}

/** Returns the folders of the other packages that load Preact on the server: the renderer and the compatibility packages. */
function installedLoaders(project: string, tsweb: string): [name: string, folder: string][] {
  const candidates: [name: string, folder: string | undefined][] = [
    ["preact-render-to-string", packageFolder("preact-render-to-string", join(tsweb, "package.json"))],
    ["react", packageFolder("react", project)],
    ["react-dom", packageFolder("react-dom", project)],
  ];
  return candidates.flatMap(([name, folder]) =>
    folder && (name.startsWith("preact") || readPackageJson(folder).name === "@preact/compat") ? [[name, folder]] : [],
  );
}

/** The fields of a package.json that we read. */
interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Returns the folder of a package as Node finds it, in the node_modules of each parent folder. The path is the real one,
 * because pnpm links packages, and puts their dependencies next to the target of the link.
 *
 * @param importer the file that imports the package; it need not exist
 * @returns `undefined` if the package is not installed
 */
export function packageFolder(name: string, importer: string): string | undefined {
  const paths = createRequire(isAbsolute(importer) ? importer : join(process.cwd(), "x")).resolve.paths(name) ?? [];
  const folder = paths.map((path) => join(path, name)).find((folder) => existsSync(join(folder, "package.json")));
  return folder && realpathSync(folder);
}

/** Returns the package.json of a package, by its folder. It may begin with a byte order mark, as for Node. */
export function readPackageJson(folder: string): PackageJson {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8").replace(/^\uFEFF/, ""));
}
