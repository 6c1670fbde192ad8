import {
  importedNameOf,
  type ModuleFacts,
  type ModuleResolver,
  ProjectError,
  resolveImported,
} from "../modules/index.ts";
import {
  CompileError,
  findModuleReferences,
  isInNodeModules,
  type ModuleReference,
  memberName,
  nodesOf,
  unwrapChain,
} from "../syntax/index.ts";
import { otherName } from "./entry-points.ts";
import { INSTALL_COMPAT, packageFolder, rejectReact } from "./react-packages.ts";
import type { PackageResolver, ViteRuleResolver } from "./rule.ts";

const FORM_HANDLE =
  'Write `const handle = form(fn)`, with `form` of "tsweb/browser": it has `error`, `result` and `pending`.';

/** What React has and Preact does not, and what to use instead. */
const NOT_IN_PREACT: Readonly<Record<string, string>> = {
  useActionState: FORM_HANDLE,
  useFormState: FORM_HANDLE,
  useFormStatus: FORM_HANDLE,
  useOptimistic:
    'Call `optimistic` of "tsweb/browser" for a live query. Otherwise set the state before the call, and set it back if the call fails.',
};

const HOOKS: ReadonlySet<string> = new Set([
  ...[
    "useState",
    "useReducer",
    "useEffect",
    "useLayoutEffect",
    "useRef",
    "useImperativeHandle",
    "useMemo",
    "useCallback",
  ],
  ...["useContext", "useDebugValue", "useErrorBoundary", "useId"],
]);

/** What replaces the modules of Next.js, which work in Next.js only. */
const NEXT_MODULES: Readonly<Record<string, string>> = {
  link: 'Write `<a href="/…">`, or `<a href={user.href({ id })}>` for the page `user`.',
  image: "Write `<img>`, with the file imported or in `public`.",
  navigation: 'Use `redirect`, `NotFound` and `request` of "tsweb" on the server, and `location` in views.',
  router: 'Use `redirect` and `request` of "tsweb" on the server, and `location` in views.',
  headers: 'Use `request.headers`, `request.cookies` and `request.set_cookie` of "tsweb".',
  server:
    'Declare a route with `route("GET /…", …)` of "tsweb", and return a `Response`. For middleware, set `before` of new App.',
  cache:
    'Pages are rendered at each request, unless they have the option `cache`. For those, use `revalidate` of "tsweb".',
  head: 'Use `Head` of "tsweb".',
  script: "Write `<script src>`.",
  dynamic: "Use `import()` in an event handler or in `on_mount`.",
};

const LOAD = "Load the data in the function of the page, which can be async.";
const STATIC =
  "Remove it: a page is rendered at each request, for every value of its parameters. To render it in the build, write " +
  '`page("/…/:id", { static: true, params: () => [{ id: "1" }] }, …)`.';

/** The functions that Next.js calls by their names. */
const NEXT_EXPORTS: Readonly<Record<string, string>> = {
  getServerSideProps: LOAD,
  getStaticProps: LOAD,
  getStaticPaths: STATIC,
  generateStaticParams: STATIC,
};

/**
 * Rejects what only other frameworks give a meaning: exports that Next.js calls, in a module with pages, and the directive
 * "use server" in browser code, where it protects nothing. "use client" is accepted: it changes nothing.
 *
 * @throws CompileError at the export or the directive
 */
export function checkForeignConventions(facts: ModuleFacts, resolver: Pick<ViteRuleResolver, "side">): void {
  const { source, declarations, exports, scopes } = facts;
  for (const { name, isType, from, at } of exports.named) {
    const hasPages = declarations.some(({ kind }) => kind === "page");
    if (!hasPages || isType || from || !Object.hasOwn(NEXT_EXPORTS, name)) continue;
    throw new CompileError(`Only Next.js calls ${name}: tsweb does not. ${NEXT_EXPORTS[name]}`, source, at);
  }
  if (!isBrowserCode(facts, resolver) || !source.code.includes("use server")) return;
  for (const { node } of nodesOf(scopes, "ExpressionStatement")) {
    if (!("directive" in node) || node.directive !== "use server") continue;
    throw new CompileError(
      '"use server" has no effect, so this code would run in the browser. Declare the function with server() in a server ' +
        "module, a file named *.server.ts, and import it here.",
      source,
      node,
    );
  }
}

/**
 * Rejects imports that work in applications of other frameworks only: modules of Next.js, functions that Preact does not
 * have, and React if it is missing or is React itself. A name that an alias of Vite replaces is accepted.
 *
 * @throws CompileError at the import
 */
export async function checkForeignImports(
  facts: ModuleFacts,
  resolver: PackageResolver & Pick<ViteRuleResolver, "side">,
): Promise<void> {
  const isForBrowsers = isBrowserCode(facts, resolver);
  for (const reference of findModuleReferences(facts.scopes)) {
    const { specifier, kind, isType } = reference;
    if (isType || kind === "url") continue;
    if (isForBrowsers && /^(?:react(?:-dom)?|preact)(?:\/|$)/.test(specifier)) rejectMissingNames(reference, facts);
    if (isForBrowsers && /^react(?:-dom)?(?:\/|$)/.test(specifier)) await checkReact(reference, facts, resolver);
    if (/^next\/./.test(specifier)) await checkNext(reference, facts, resolver);
  }
}

function rejectMissingNames({ names }: ModuleReference, { source }: ModuleFacts): void {
  for (const { name, isType, at } of names) {
    if (!isType && Object.hasOwn(NOT_IN_PREACT, name)) {
      throw new CompileError(`Preact, which renders the views, has no ${name}. ${NOT_IN_PREACT[name]}`, source, at);
    }
  }
}

async function checkReact(
  { specifier, names, at }: ModuleReference,
  { source }: ModuleFacts,
  resolver: PackageResolver,
): Promise<void> {
  try {
    rejectReact(specifier, source.file, resolver.root);
  } catch (error) {
    throw error instanceof ProjectError ? new CompileError(error.message, source, at) : error;
  }
  if (!(await resolver.isMissing(specifier, source.file))) return;
  const values = names.filter(({ isType }) => !isType).map(({ name }) => name);
  const areHooks = values.length > 0 && values.every((name) => HOOKS.has(name));
  const fix = areHooks ? importHooks(values) : INSTALL_COMPAT;
  throw new CompileError(`"${specifier}" is not installed, and views are rendered with Preact. ${fix}`, source, at);
}

/** Returns where hooks are imported from, and what views have in place of them. */
function importHooks(names: readonly string[]): string {
  const own = names.map((name) => otherName(name)).filter((name) => name !== undefined);
  const alternative = own.length > 0 ? `, or use ${own.join(", ")} of "tsweb/browser"` : "";
  return `Import ${names.join(", ")} from "preact/hooks"${alternative}.`;
}

async function checkNext(
  { specifier, at }: ModuleReference,
  { source }: ModuleFacts,
  resolver: PackageResolver,
): Promise<void> {
  const id = await resolver.resolve(specifier, source.file);
  if (id !== undefined && !isInNodeModules(id)) return;
  const isInstalled = packageFolder("next", source.file) !== undefined;
  if (!isInstalled && !(await resolver.isMissing(specifier, source.file))) return;
  const name = specifier.slice("next/".length).replace(/\.js$/, "");
  const fix = Object.hasOwn(NEXT_MODULES, name) ? NEXT_MODULES[name] : "Remove this import.";
  throw new CompileError(`"${specifier}" works in applications of Next.js only. ${fix}`, source, at);
}

/** The methods of the procedures of tRPC and others. A server function in browser code has none of them. */
const CLIENT_METHODS = /^(?:mutate|mutateAsync|query|use(?:Suspense|Infinite)?Query|useMutation)$/;

/**
 * Rejects calls of methods that server functions have in other frameworks, such as `sign.mutate(…)`, in modules that browsers
 * load.
 *
 * @throws CompileError at the method
 */
export async function checkStubMembers(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const { isServerModule, source, scopes } = facts;
  if (isServerModule || !/\b(?:mutate|mutateAsync|query|use\w*(?:Query|Mutation))\b/.test(source.code)) return;
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const callee = unwrapChain(node.callee);
    if (callee.type !== "MemberExpression" || !CLIENT_METHODS.test(memberName(callee) ?? "")) continue;
    const object = unwrapChain(callee.object);
    const imported = importedNameOf(object, scope);
    if (!imported) continue;
    const declared = (await resolveImported(imported, facts, resolver))?.serverFunction;
    if (!declared) continue;
    const name = source.code.slice(object.start, object.end);
    const call = `await ${name}(${declared.params.map((parameter) => parameter.name).join(", ")})`;
    throw new CompileError(
      `${name} has no ${memberName(callee)}. It is called like a function: \`${call}\`, in an event handler or in on_mount.`,
      source,
      callee,
    );
  }
}

/** Returns whether browsers load the module that is checked. */
function isBrowserCode({ views }: ModuleFacts, { side }: Pick<ViteRuleResolver, "side">): boolean {
  return side === "browser" || views.length > 0;
}
