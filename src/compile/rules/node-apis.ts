import { isBuiltin } from "node:module";
import type { DevEnvironment } from "vite";
import type { ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  findGlobalReferences,
  findModuleReferences,
  findNode,
  type GlobalReference,
  isFunctionNode,
  isMarkup,
  isWrapper,
  memberName,
  memberPath,
  type Node,
  nodesOf,
  type Scopes,
  stringValue,
  unwrapExpression,
} from "../syntax/index.ts";
import type { DefinedGlobals, ViteRuleResolver } from "./rule.ts";
import { isEnvironmentGuarded, isRenderedByServer } from "./server-evaluation.ts";

const MOVE = "Use it in the page or in a server function, and pass the result to the browser.";

/** The globals of Node that browsers do not have, and how to do without each. */
const ADVICE: Readonly<Record<string, string>> = {
  process: MOVE,
  Buffer: MOVE,
  __dirname: MOVE,
  __filename: MOVE,
  require: 'Write an import at the top of the module: `import name from "…"`.',
  global: "Write `globalThis`.",
};

const NAMES: ReadonlySet<string> = new Set(Object.keys(ADVICE));
/** The names of the global object in browsers. */
const GLOBAL_OBJECTS: ReadonlySet<string> = new Set(["globalThis", "window", "self", "global"]);
const MAY_CONTAIN = new RegExp(`\\b(?:${[...NAMES].join("|")})\\b`);

const NO_DEFINED_GLOBALS: DefinedGlobals = { isReplaced: () => false, hasPolyfills: false };

/**
 * Rejects globals of Node in a module that browsers load: browsers do not have them, and the server would write the value of
 * an environment variable into the HTML.
 *
 * Allowed are `process.env.NODE_ENV`, which Vite replaces; globals that the module itself sets; code that runs only after a
 * test of the environment, such as `typeof process !== "undefined"`; and functions without markup in a module without views,
 * because perhaps only server code calls them. A variable of the environment that is written in markup is rejected in spite of
 * a test that holds on the server: its value would be part of the HTML.
 *
 * @throws CompileError at the expression
 */
export function checkServerGlobals(
  facts: ModuleFacts,
  { defined = NO_DEFINED_GLOBALS }: Pick<ViteRuleResolver, "defined">,
): void {
  const { source, scopes } = facts;
  if (!MAY_CONTAIN.test(source.code) || isCommonJs(facts)) return;
  const assigned = assignedGlobals(scopes);
  for (const reference of findGlobalReferences(facts.program, scopes, new Set([...NAMES, "globalThis"]))) {
    const used = usedExpression(reference);
    if (isAllowed(used.path, defined) || assigned.has(used.path[0] ?? "")) continue;
    if (!isRenderedVariable(used, reference)) {
      const { node, isDeclared, ancestors, scope } = reference;
      if (node.name === "globalThis" || isDeclared) continue;
      if (!mayRunInBrowser(reference, facts) || isEnvironmentGuarded(node, ancestors, scope)) continue;
    }
    const text = source.code.slice(used.node.start, used.node.end).replace(/\s+/g, " ");
    throw new CompileError(messageFor(reference, text, used.path), source, used.node);
  }
}

/** Returns the globals that a module sets, as in `globalThis.process ??= …`. */
function assignedGlobals(scopes: Scopes): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { node } of nodesOf(scopes, "AssignmentExpression", "CallExpression")) {
    if (node.type === "AssignmentExpression") {
      const [root = "", name = "", ...rest] = memberPath(node.left) ?? [];
      if (GLOBAL_OBJECTS.has(root) && rest.length === 0) names.add(name);
    } else if (memberPath(node.callee)?.[0] === "Object" && node.arguments[0]) {
      const [root = "", ...rest] = memberPath(node.arguments[0]) ?? [];
      // Object.assign(globalThis, …), Object.defineProperty(globalThis, …): the names may be computed.
      if (GLOBAL_OBJECTS.has(root) && rest.length === 0) for (const name of NAMES) names.add(name);
    }
  }
  return names;
}

/** In a CommonJS module, `require` belongs to the module: Vite converts it. */
function isCommonJs({ source, program, exports }: ModuleFacts): boolean {
  const hasImports = program.body.some((statement) => statement.type === "ImportDeclaration");
  return /\.c[jt]s$/.test(source.file) || (!hasImports && exports.named.length + exports.starExports.length === 0);
}

/** An expression that uses a global: `process.env.HOME`, `process.cwd` or a name alone. */
interface UsedExpression {
  readonly node: Node;
  /** The nodes that contain it, the innermost first. */
  readonly ancestors: readonly Node[];
  /** The names in it, without `globalThis`. */
  readonly path: readonly string[];
}

function usedExpression({ node, ancestors }: GlobalReference): UsedExpression {
  let used: UsedExpression = { node, ancestors, path: node.name === "globalThis" ? [] : [node.name] };
  let child: Node = node;
  for (const [index, parent] of ancestors.entries()) {
    if (isWrapper(parent)) {
      child = parent;
      continue;
    }
    const isMember = parent.type === "MemberExpression" && parent.object === child;
    if (!isMember || !/^(?:|process|process\.env)$/.test(used.path.join("."))) break;
    const name = memberName(parent);
    used = {
      node: parent,
      ancestors: ancestors.slice(index + 1),
      path: name === undefined ? used.path : [...used.path, name],
    };
    if (name === undefined) break;
    child = parent;
  }
  return used;
}

/** Returns whether the server writes the value of a variable of its environment into the HTML, wherever it is declared. */
function isRenderedVariable({ node, ancestors, path }: UsedExpression, { scope }: GlobalReference): boolean {
  return isVariable(path) && path.length > 2 && isRenderedByServer(node, ancestors, scope);
}

/** Returns whether browsers evaluate a reference: in a module with views, when the module is loaded, or in a component. */
function mayRunInBrowser({ ancestors }: GlobalReference, { views }: ModuleFacts): boolean {
  const functions = ancestors.filter(isRunLater);
  return views.length > 0 || functions.length === 0 || functions.some((fn) => findNode(fn, isMarkup));
}

function isRunLater(node: Node): boolean {
  return isFunctionNode(node) || (node.type === "PropertyDefinition" && !node.static);
}

function isAllowed(path: readonly string[], { isReplaced, hasPolyfills }: DefinedGlobals): boolean {
  const expression = path.join(".");
  if (expression === "process.env.NODE_ENV" || isReplaced(expression)) return true;
  return hasPolyfills && !isVariable(path);
}

/** Returns whether an expression reads the environment's variables. */
function isVariable([root, member]: readonly string[]): boolean {
  return root === "process" && member === "env";
}

function messageFor({ node, ancestors }: GlobalReference, text: string, path: readonly string[]): string {
  const [parent] = ancestors;
  if (node.name === "require" && parent?.type === "CallExpression") {
    const specifier = parent.arguments[0] && stringValue(unwrapExpression(parent.arguments[0]));
    if (specifier !== undefined && isBuiltin(specifier)) return nodeBuiltinMessage(specifier);
  }
  if (isVariable(path)) {
    return (
      `${text} cannot be used in a module that browsers load: it is undefined in browsers, and the server would write its ` +
      "value into the HTML. Read it in the page and pass it as a prop."
    );
  }
  return `\`${text}\` exists in Node only, and browsers load this module too. ${ADVICE[node.name] ?? MOVE}`;
}

/** Returns the error message for an import of a Node module in browser code. */
export function nodeBuiltinMessage(specifier: string): string {
  return `"${specifier}" is a Node module, so browser code cannot import it. Use it in a server function and call that function.`;
}

/**
 * Returns whether an import of browser code refers to a module of Node. An installed package may have the name of one: it
 * then resolves to a file. A name that starts with `node:` never does.
 *
 * @param id what the specifier resolves to in the browser; `undefined` for a missing module
 */
export function isNodeModule(specifier: string, id: string | undefined): boolean {
  return specifier.startsWith("node:") || (isBuiltin(specifier) && !isFile(id));
}

/** Returns whether an id is a file, and not a placeholder of the bundler for a missing module. */
function isFile(id: string | undefined): boolean {
  return id !== undefined && (id.startsWith("/") || /^[a-z]:[\\/]/i.test(id));
}

/**
 * Rejects Node modules in a module that browsers load, while it is compiled for the server. On the server they work, so
 * the page would be rendered, and only the console of the browser would show why its views do not work.
 *
 * @param resolver.client the environment of browser code, which decides what a specifier resolves to
 * @throws CompileError at the specifier
 */
export async function checkNodeImports(
  { scopes, source }: ModuleFacts,
  { client }: { readonly client: Pick<DevEnvironment, "pluginContainer"> | undefined },
): Promise<void> {
  if (!client) return;
  for (const { specifier, at, kind, isType } of findModuleReferences(scopes)) {
    if (isType || kind === "url" || !isBuiltin(specifier)) continue;
    const isPrefixed = specifier.startsWith("node:"); // the plugin's resolver rejects it, without a location
    const id = isPrefixed ? undefined : (await client.pluginContainer.resolveId(specifier, source.file))?.id;
    if (isNodeModule(specifier, id)) throw new CompileError(nodeBuiltinMessage(specifier), source, at);
  }
}
