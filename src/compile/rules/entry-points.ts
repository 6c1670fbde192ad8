import type { ESTree } from "vite";
import { closestName } from "../../text/index.ts";
import type { ModuleFacts } from "../modules/index.ts";
import { CompileError, specifierName } from "../syntax/index.ts";
import { usedValues } from "./imports.ts";

/** The values that only `tsweb/browser` exports. Types are not listed: the type checker reports those. */
const BROWSER_ONLY: ReadonlySet<string> = new Set([
  "view",
  "state",
  "on_mount",
  "on_unmount",
  "on_progress",
  "live",
  "optimistic",
  "no_wait",
  "present",
  "subscribe",
]);

const CALL_IT = "Use it in a server function, and call that function here.";

/** The values that only `tsweb` exports, and what to do in browser code, which cannot import them. */
const SERVER_ONLY: Readonly<Record<string, string>> = {
  App: "Create the application in src/app.ts, which no browser loads.",
  server: "Declare the function in a server module, a file named *.server.ts, and import it here.",
  query:
    "Declare the query in a server module, a file named *.server.ts, and pass `await name.live(…)` from the page as a prop.",
  page: "Declare the page in a server module, a file named *.server.tsx.",
  route: "Declare the route in a server module, a file named *.server.ts.",
  request: "Read it in the page, and pass what is needed here as a prop.",
  session:
    "Read it in the page, and pass what is needed here as a prop, as in `user={session.user()}`. To sign in or out, call a " +
    "server function that does it.",
  redirect: "To open another page in the browser, write `location.assign(path)`.",
  once: "Use it in a server module, a file named *.server.ts.",
  Later: "Render it in the page, around the view.",
  Head: "Render it in the page, next to the view.",
  Html: "Render it in the page, next to the view.",
  Body: "Render it in the page, next to the view.",
  NotFound: "Throw it in the page, which loads the data.",
  channel: 'Create the feed in the page, and pass it as a prop, as in `feed={await channel("…")}`.',
  presence:
    'Call it in the page, and pass what it returns as a prop, as in `here={await presence("…")}`. In the view, call ' +
    "`present(props.here)` of tsweb/browser.",
  who: CALL_IT,
  publish: CALL_IT,
  revalidate: CALL_IT,
  listen:
    'Create the feed in the page with `channel("…")`, pass it as a prop, and call `subscribe` of "tsweb/browser" here.',
  limit: CALL_IT,
  realtime: CALL_IT,
  project_path: CALL_IT,
  send_file: CALL_IT,
  ConfigError: CALL_IT,
  GapError: "Pass `gap` to `subscribe`: it is called when messages are lost.",
  SerializeError: CALL_IT,
  ValueError: 'Callers receive an RPCError with the code validation_error. Import RPCError from "tsweb/browser".',
};

/** The values that both entry points export. */
const SHARED: ReadonlySet<string> = new Set(["RPCError", "form"]);

/** Names of other libraries for what tsweb has under another name. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  useState: "state",
  useEffect: "on_mount",
  useSession: "session",
  useOptimistic: "optimistic",
  useActionState: "form",
  Suspense: "Later",
  notFound: "NotFound",
  cookies: "request",
  headers: "request",
  revalidatePath: "revalidate",
  revalidateTag: "revalidate",
};

/**
 * Rejects an import from the wrong one of the two entry points, `tsweb` and `tsweb/browser`, and of a name that neither
 * exports. At run time the name would be undefined where it is used, or the error would have no location.
 *
 * Errs towards silence: an unknown name that is used as a type only may be one.
 *
 * @throws CompileError at the import specifier
 */
export function checkEntryPoints({ program, source, isServerModule }: ModuleFacts): void {
  const imports = valueImports(program);
  const declaresViews =
    !isServerModule && imports.some(({ name, from }) => name === "view" && from === "tsweb/browser");
  for (const { name, from, specifier } of imports) {
    const problem =
      importProblem(name, from, { declaresViews, isServerModule }) ??
      (isKnown(name) || !usedValues(program).has(specifier.local.name) ? undefined : unknownNameMessage(name, from));
    if (problem) throw new CompileError(problem, source, specifier);
  }
}

interface ValueImport {
  readonly name: string;
  readonly from: "tsweb" | "tsweb/browser";
  readonly specifier: ESTree.ImportSpecifier;
}

function valueImports(program: ESTree.Program): ValueImport[] {
  return program.body.flatMap((node) => {
    if (node.type !== "ImportDeclaration" || node.importKind === "type") return [];
    const from = node.source.value;
    if (from !== "tsweb" && from !== "tsweb/browser") return [];
    return node.specifiers.flatMap((specifier) =>
      specifier.type === "ImportSpecifier" && specifier.importKind !== "type"
        ? [{ name: specifierName(specifier.imported), from, specifier } as const]
        : [],
    );
  });
}

interface ImporterKind {
  readonly isServerModule: boolean;
  /** Whether the module imports `view` and is no server module, so that browsers load it. */
  readonly declaresViews: boolean;
}

function importProblem(name: string, from: string, importer: ImporterKind): string | undefined {
  if (BROWSER_ONLY.has(name)) return browserNameProblem(name, from, importer);
  if (Object.hasOwn(SERVER_ONLY, name)) return serverNameProblem(name, from, importer);
  if (SHARED.has(name)) {
    const isWrong = from === "tsweb" && importer.declaresViews;
    return isWrong ? `Browser code cannot import ${name} from "tsweb". Import it from "tsweb/browser".` : undefined;
  }
  return unknownNameProblem(name, from);
}

function browserNameProblem(name: string, from: string, { isServerModule }: ImporterKind): string | undefined {
  if (isServerModule && (from === "tsweb" || name !== "view")) {
    return (
      `${name} works in views only, and a server module contains none, because browsers do not load it. Declare a view in a ` +
      'file without ".server" in its path, with `view` of "tsweb/browser", and render it here.'
    );
  }
  return from === "tsweb" ? `"tsweb" does not export ${name}. Import it from "tsweb/browser".` : undefined;
}

const DECLARATIONS: ReadonlySet<string> = new Set(["server", "query", "page", "route"]);

function serverNameProblem(name: string, from: string, importer: ImporterKind): string | undefined {
  if (from === "tsweb/browser") {
    const isImportable = importer.isServerModule || name === "App";
    return isImportable
      ? `"tsweb/browser" does not export ${name}. Import it from "tsweb".`
      : `"tsweb/browser" does not export ${name}, which exists on the server only. ${SERVER_ONLY[name]}`;
  }
  // findDeclarations reports the calls of these, with their names.
  const isDeclaration = DECLARATIONS.has(name);
  return importer.declaresViews && !isDeclaration ? serverNameMessage(name) : undefined;
}

function unknownNameProblem(name: string, from: string): string | undefined {
  const inSnakeCase = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const known = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : inSnakeCase;
  if (known === undefined || known === name) return undefined;
  if (!isKnown(known)) return undefined;
  const entryPoint = namesOf(from).includes(known) ? from : from === "tsweb" ? "tsweb/browser" : "tsweb";
  return `"${from}" does not export ${name}. Import ${known} from "${entryPoint}".`;
}

function isKnown(name: string): boolean {
  return [...namesOf("tsweb"), ...namesOf("tsweb/browser")].includes(name);
}

/** Returns the values that an entry point exports. */
function namesOf(entryPoint: string): string[] {
  return [...(entryPoint === "tsweb" ? Object.keys(SERVER_ONLY) : BROWSER_ONLY), ...SHARED];
}

function unknownNameMessage(name: string, from: string): string {
  const meant = closestName(name, namesOf(from));
  return `"${from}" exports no value ${name}. ${meant ? `Did you mean ${meant}?` : "Correct the name, or import it from another package."}`;
}

/**
 * Returns the error message for an import of a name of `tsweb` in browser code.
 *
 * @returns `undefined` for a name that is no value of `tsweb`
 */
export function serverNameMessage(name: string): string | undefined {
  if (Object.hasOwn(SERVER_ONLY, name))
    return `${name} exists on the server only, so browser code cannot import it. ${SERVER_ONLY[name]}`;
  if (SHARED.has(name) || BROWSER_ONLY.has(name))
    return `Browser code cannot import ${name} from "tsweb". Import it from "tsweb/browser".`;
  return undefined;
}

/** Returns the name that `tsweb/browser` has for a name of another library; `undefined` without one. */
export function otherName(name: string): string | undefined {
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
}
