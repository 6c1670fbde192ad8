import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { relativeFile } from "../project/index.ts";

/** Both are in code that creates elements of React: a copy of React, or of its JSX runtime alone. */
const ELEMENT = [/Symbol\.for\(\s*["'`]react\.(?:transitional\.)?element["'`]\s*\)/, /\$\$typeof:/] as const;

/** The renderer of React. A package that contains it can show its elements itself, in an element of the page. */
const RENDERER = /__react(?:Fiber|Container|InternalInstance)\$|_reactRootContainer/;

/** Packages that have a message of their own, or that create elements of Preact. */
const KNOWN = /^(?:react|react-dom|preact|preact-render-to-string|@preact\/.*|tsweb)$/;

/** Returns whether a module of a package creates elements of React. */
export function createsReactElements(code: string): boolean {
  return ELEMENT.every((pattern) => pattern.test(code));
}

/** Returns the name of the package of a module; `undefined` for modules of the application. */
function packageOf(id: string): string | undefined {
  return /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
}

/**
 * Finds packages that bring a copy of React, or of its JSX runtime, to the browser: Preact shows nothing of the elements
 * that they create. A package that also contains the renderer of React is not reported, because it may show them itself.
 */
export class BundledReact {
  readonly #root: string;
  /** The first module that creates elements of React, by package. */
  readonly #creators = new Map<string, string>();
  readonly #renderers = new Set<string>();
  /** The warnings about the packages in the build. Filled by the build. */
  readonly warnings: string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  plugin(): Plugin {
    const { warnings } = this;
    const [creators, renderers, root] = [this.#creators, this.#renderers, this.#root];
    return {
      name: "tsweb:bundled-react",
      transform: {
        filter: { id: /\/node_modules\//, code: /react/ },
        handler(code, id) {
          const name = packageOf(id);
          if (name === undefined || KNOWN.test(name)) return;
          if (RENDERER.test(code)) renderers.add(name);
          if (!creators.has(name) && createsReactElements(code)) creators.set(name, id);
        },
      },
      generateBundle(_options, bundle) {
        const rendered = new Set(
          Object.values(bundle).flatMap((chunk) =>
            chunk.type === "chunk"
              ? Object.entries(chunk.modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? [id] : []))
              : [],
          ),
        );
        const importersOf = (id: string) => {
          const info = this.getModuleInfo(id);
          return info ? [...info.importers, ...info.dynamicImporters] : [];
        };
        for (const [name, id] of creators) {
          if (renderers.has(name) || !rendered.has(id)) continue;
          const importer = applicationModule(id, importersOf);
          if (importer !== undefined) warnings.push(warningAbout(name, { file: id, importer, root }));
        }
      },
    };
  }
}

/** Returns the module of the application that imports a module, directly or through other packages. */
function applicationModule(id: string, importersOf: (id: string) => readonly string[]): string | undefined {
  const visited = new Set([id]);
  for (const each of visited) {
    if (packageOf(each) === undefined && /^(?:\/|[a-z]:)/i.test(each)) return each;
    for (const importer of importersOf(each)) visited.add(importer); // the loop visits it too
  }
  return undefined;
}

interface ImportedCopy {
  readonly file: string;
  readonly importer: string;
  readonly root: string;
}

function warningAbout(name: string, { file, importer, root }: ImportedCopy): string {
  const path = importer.replace(/\?.*$/s, "");
  const line = readFileSync(path, "utf8")
    .split("\n")
    .findIndex((text) => text.includes(`"${name}`) || text.includes(`'${name}`));
  const location = line < 0 ? relativeFile(root, path) : `${relativeFile(root, path)}:${line + 1}`;
  return (
    `${location}: ${name} contains a copy of React (${relativeFile(root, file)}). Views are rendered with Preact, which shows ` +
    `nothing of its elements. Use a version of ${name} that imports react, with Preact's compatibility package under that ` +
    "name: npm install react@npm:@preact/compat react-dom@npm:@preact/compat. Or replace the package."
  );
}
