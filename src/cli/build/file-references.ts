/** References to files that a build does not contain: paths in server modules, and URLs in style sheets. */
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createLogger, type Plugin, parseAst } from "vite";
import { findStyleSheetUrls, styleSheetUrlFix } from "../modules/index.ts";
import { relativeFile } from "../project/index.ts";

/** A file or folder of the project to which a server module refers by its path. */
export interface FileReference {
  /** The module, relative to the project. */
  readonly module: string;
  /** The file or folder, relative to the project. */
  readonly path: string;
  /** Whether the module uses `project_path`, which finds the file in the build. */
  readonly isProjectPath: boolean;
}

/** Collects the files of the project to which the server modules of a build refer. */
export class FileReferences {
  readonly #root: string;
  readonly #packages: readonly RegExp[];
  readonly #references = new Map<string, FileReference>();
  readonly #written = new Set<string>();

  /** @param packages the folders of linked packages, whose files are not of the project */
  constructor(root: string, packages: readonly string[] = []) {
    this.#root = root;
    this.#packages = packages.map((folder) => new RegExp(`^${folder.replace(/[^\w/]/g, "\\$&")}`, "i"));
  }

  plugin(): Plugin {
    return {
      name: "tsweb:file-references",
      transform: {
        filter: {
          id: { include: /^[/a-z].*\.[cm]?[jt]sx?$/i, exclude: [/\/node_modules\//, ...this.#packages] },
          code: MAY_CONTAIN_PATHS,
        },
        handler: (code, id) => {
          this.#record(code, id);
          return null;
        },
      },
    };
  }

  /** Returns the references to what exists in the project, and is not written by the application. */
  existing(): readonly FileReference[] {
    return [...this.#references.values()].filter(({ path }) => !this.#written.has(path));
  }

  #record(code: string, id: string): void {
    for (const { path, kind } of findPaths(code)) {
      if (isAbsolute(path) || /^[a-z]+:/i.test(path)) continue;
      const file = kind === "module" ? join(dirname(id), path) : resolve(this.#root, path);
      const reference = relativeFile(this.#root, file);
      if (kind === "write") this.#written.add(reference);
      else if (reference !== "" && !reference.startsWith("..") && existsSync(file)) {
        const module = relativeFile(this.#root, id);
        this.#references.set(`${module} ${reference} ${kind}`, {
          module,
          path: reference,
          isProjectPath: kind === "project",
        });
      }
    }
  }
}

/**
 * Returns a warning for each reference that does not lead to a file of the build.
 *
 * @param included the files that the build copies
 */
export function referenceWarnings(
  references: readonly FileReference[],
  included: readonly string[],
): readonly string[] {
  return references.flatMap(({ module, path, isProjectPath }) => {
    const isIncluded = included.some((file) => file === path || file.startsWith(`${path}/`));
    if (isIncluded && isProjectPath) return [];
    const fixes = [
      ...(isIncluded ? [] : [`add ${JSON.stringify(path)} to "tsweb": { "include": […] } in package.json`]),
      ...(isProjectPath ? [] : [`read it with project_path(${JSON.stringify(path)})`]),
    ];
    const problem = isIncluded ? "which is at another path in dist" : "which is not copied into dist";
    return [`${module} reads ${path}, ${problem}. If the built application needs it, ${fixes.join(", and ")}.`];
  });
}

const READ_NAMES = "readFile|readFileSync|createReadStream|readdir|readdirSync|opendir|opendirSync|openAsBlob";
const WRITE_NAMES = "(?:writeFile|appendFile|createWriteStream|mkdir|truncate|rm|unlink)(?:Sync)?";

/** Functions that read a file or a folder, whose path is their first argument. */
const READS = new RegExp(`^(?:${READ_NAMES})$`);

/** Functions that write to a file: an application that writes a file does not need that of the project. */
const WRITES = new RegExp(`^${WRITE_NAMES}$`);

/** Options that are the path of a folder: of Drizzle's `migrate`. */
const PATH_OPTIONS = /^migrationsFolder$/;

/** Matches all code in which paths can be found. Few modules match, so that few are parsed. `meta`: of `import.meta`. */
export const MAY_CONTAIN_PATHS = new RegExp(
  `\\b(?:${READ_NAMES}|${WRITE_NAMES}|migrationsFolder|meta|__dirname|project_path)\\b`,
);

/** Matches code that starts threads of Node. All other code with `new Worker(…)` starts one of the browser. */
const NODE_WORKERS = /\bworker_threads\b/;

/** What a syntax tree says about a path. */
type Use = { readonly path: string; readonly kind: "read" | "module" | "project" | "write" };

/** A node of a syntax tree, with the members that are read here. */
interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/**
 * Returns the paths in a module's code: those that it reads, relative to the current folder (`read`), relative to the module
 * (`module`) or with `project_path` (`project`), and those that it writes. Only literal paths are found. The script of a
 * worker of the browser is left out: the build of the browser's files contains it.
 */
export function findPaths(code: string): readonly Use[] {
  const uses: Use[] = [];
  const hasNodeWorkers = NODE_WORKERS.test(code);
  const visit = (node: unknown): void => {
    if (!hasNodeWorkers && isNode(node) && isWorker(node)) return;
    const use = isNode(node) ? useIn(node) : undefined;
    if (use) uses.push(use);
    if (Array.isArray(node) || isNode(node)) for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(code));
  return uses;
}

function useIn(node: Node): Use | undefined {
  if (node.type === "Property") {
    const path = textOf(node.value);
    return PATH_OPTIONS.test(nameOf(node.key)) && path !== undefined ? { path, kind: "read" } : undefined;
  }
  if (node.type !== "CallExpression" && node.type !== "NewExpression") return undefined;
  const [first, second, ...rest] = Array.isArray(node.arguments) ? node.arguments : [];
  const [path, name] = [textOf(first), nameOf(node.callee)];
  if (node.type === "NewExpression") {
    const isUrl = name === "URL" && isImportMeta(second, "url") && path !== undefined;
    return isUrl ? { path, kind: "module" } : undefined;
  }
  if (/^(?:join|resolve)$/.test(name) && (isImportMeta(first, "dirname") || nameOf(first) === "__dirname")) {
    const parts = [second, ...rest].map(textOf);
    return parts.includes(undefined) ? undefined : { path: parts.join("/"), kind: "module" };
  }
  if (path === undefined) return undefined;
  if (name === "project_path") return { path, kind: "project" };
  if (WRITES.test(name)) return { path, kind: "write" };
  return READS.test(name) ? { path, kind: "read" } : undefined;
}

function isWorker({ type, callee }: Node): boolean {
  return type === "NewExpression" && /^(?:Shared)?Worker$/.test(nameOf(callee));
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Returns the name of an identifier, or of the last member of an expression; an empty text for anything else. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return "";
  if (node.type === "Identifier") return String(node.name);
  return node.type === "MemberExpression" && node.computed !== true ? nameOf(node.property) : "";
}

function textOf(node: unknown): string | undefined {
  return isNode(node) && node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

function isImportMeta(node: unknown, member: string): boolean {
  return isNode(node) && nameOf(node) === member && isNode(node.object) && node.object.type === "MetaProperty";
}

/** Vite's warning about a `url(…)` of a style sheet, which names no style sheet. */
const UNRESOLVED = /^\s*(?<url>\S+) referenced in \S+ didn't resolve at build time/;

/** Collects the URLs of style sheets that lead to no file, and says in which line they are, in place of Vite's warnings. */
export class UnresolvedUrls {
  readonly #urls = new Set<string>();
  #publicDir = "";

  /** The folder of public files, once the config is resolved; empty without one. */
  get publicDir(): string {
    return this.#publicDir;
  }

  plugin(): Plugin {
    const urls = this.#urls;
    return {
      name: "tsweb:unresolved-urls",
      config({ customLogger, logLevel }) {
        const logger = customLogger ?? createLogger(logLevel);
        const warnOnce = logger.warnOnce.bind(logger);
        logger.warnOnce = (message, options) => {
          const url = UNRESOLVED.exec(stripVTControlCharacters(message))?.groups?.url;
          if (url === undefined) warnOnce(message, options);
          else urls.add(url);
        };
        return { customLogger: logger };
      },
      configResolved: ({ publicDir }) => {
        this.#publicDir = publicDir;
      },
    };
  }

  /**
   * Returns a warning for each of the URLs, without those that a route serves.
   *
   * @param routePaths the path patterns of the routes
   */
  async warnings(root: string, routePaths: readonly string[]): Promise<string[]> {
    if (this.#urls.size === 0) return [];
    const unserved = new Set(withoutRoutes([...this.#urls], routePaths));
    const found = await findStyleSheetUrls(root, (url) => unserved.has(decoded(url)));
    for (const { url } of found) unserved.delete(decoded(url));
    const folders = { root, publicDir: this.#publicDir };
    return [
      ...found.map(
        (each) =>
          `${each.location} refers to ${each.url}, and there is no such file. ${styleSheetUrlFix(each, folders)}`,
      ),
      ...[...unserved].map((url) => `A style sheet refers to ${url}, and there is no such file.`),
    ];
  }
}

/** Vite's message has the URL decoded. */
function decoded(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** Returns the URLs that no route serves. */
function withoutRoutes(urls: readonly string[], routePaths: readonly string[]): string[] {
  const patterns = routePaths.map((path) => {
    const parts = path.split(/:\w+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join("[^/]+")}$`);
  });
  return urls.filter((url) => !patterns.some((pattern) => pattern.test(url.replace(/[?#].*$/s, ""))));
}
