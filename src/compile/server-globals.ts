import { isBuiltin } from "node:module";
import { isEnvironmentGuarded } from "./environment-guards.ts";
import type { ModuleFacts } from "./module-facts.ts";
import { nodeBuiltinMessage } from "./node-imports.ts";
import {
  CompileError,
  findGlobalReferences,
  type GlobalReference,
  isFunctionNode,
  type Node,
  stringValue,
  unwrapExpression,
  walk,
} from "./syntax/index.ts";

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
const MAY_CONTAIN = new RegExp(`\\b(?:${[...NAMES].join("|")})\\b`);

/** The settings of Vite that give meaning to globals of Node in browser code. */
export interface DefinedGlobals {
  /** Returns whether the option `define` replaces an expression, such as `process.env.API`. */
  isReplaced(expression: string): boolean;
  /** Whether a plugin adds Node's globals to browser code. */
  readonly hasPolyfills: boolean;
}

const NO_DEFINED_GLOBALS: DefinedGlobals = { isReplaced: () => false, hasPolyfills: false };

/**
 * Rejects globals of Node in a module that browsers load: browsers do not have them, and the server would write the value of
 * an environment variable into the HTML.
 *
 * Allowed are `process.env.NODE_ENV`, which Vite replaces; code that runs only after a test of the environment, such as
 * `typeof process !== "undefined"`; and functions without markup in a module without views, because perhaps only server
 * code calls them.
 *
 * @throws CompileError at the expression
 */
export function checkServerGlobals(facts: ModuleFacts, defined: DefinedGlobals = NO_DEFINED_GLOBALS): void {
  const { source, program, scopes } = facts;
  if (!MAY_CONTAIN.test(source.code) || isCommonJs(facts)) return;
  for (const reference of findGlobalReferences(program, scopes, NAMES)) {
    const used = usedExpression(reference);
    const text = source.code.slice(used.start, used.end).replace(/\s+/g, " ");
    if (isAllowed(reference, text, defined) || !mayRunInBrowser(reference, facts)) continue;
    if (isEnvironmentGuarded(reference.node, reference.ancestors, reference.scope)) continue;
    throw new CompileError(messageFor(reference, text), source, used);
  }
}

/** In a CommonJS module, `require` belongs to the module: Vite converts it. */
function isCommonJs({ source, program, exports }: ModuleFacts): boolean {
  const hasImports = program.body.some((statement) => statement.type === "ImportDeclaration");
  return /\.c[jt]s$/.test(source.file) || (!hasImports && exports.named.length + exports.starExports.length === 0);
}

/** Returns the expression that is shown: `process.env.HOME`, `process.cwd` or a name alone. */
function usedExpression({ node, ancestors }: GlobalReference): Node {
  const [member, outer] = ancestors;
  if (node.name !== "process" || member?.type !== "MemberExpression" || member.object !== node) return node;
  const isEnv = member.property.type === "Identifier" && member.property.name === "env";
  return isEnv && outer?.type === "MemberExpression" && outer.object === member ? outer : member;
}

/** Returns whether browsers evaluate a reference: in a module with views, when the module is loaded, or in a component. */
function mayRunInBrowser({ ancestors }: GlobalReference, { views }: ModuleFacts): boolean {
  const functions = ancestors.filter(isRunLater);
  return views.length > 0 || functions.length === 0 || functions.some(containsMarkup);
}

function isRunLater(node: Node): boolean {
  return isFunctionNode(node) || (node.type === "PropertyDefinition" && !node.static);
}

function containsMarkup(node: Node): boolean {
  let found = false;
  walk(node, ({ type }) => {
    found ||= type === "JSXElement" || type === "JSXFragment";
    return !found;
  });
  return found;
}

function isAllowed({ node }: GlobalReference, text: string, { isReplaced, hasPolyfills }: DefinedGlobals): boolean {
  if (/^process\??\.env(?:\??\.NODE_ENV|(?:\?\.)?\[["']NODE_ENV["']\])$/.test(text)) return true;
  if (isReplaced(text.replaceAll("?.", "."))) return true;
  return hasPolyfills && !(node.name === "process" && /^process\??\.env\b/.test(text));
}

function messageFor({ node, ancestors }: GlobalReference, text: string): string {
  const [parent] = ancestors;
  if (node.name === "require" && parent?.type === "CallExpression") {
    const specifier = parent.arguments[0] && stringValue(unwrapExpression(parent.arguments[0]));
    if (specifier !== undefined && isBuiltin(specifier)) return nodeBuiltinMessage(specifier);
  }
  if (/^process\??\.env\b/.test(text)) {
    return (
      `${text} cannot be used in a module that browsers load: it is undefined in browsers, and the server would write its ` +
      "value into the HTML. Read it in the page and pass it as a prop."
    );
  }
  return `\`${text}\` exists in Node only, and browsers load this module too. ${ADVICE[node.name] ?? MOVE}`;
}
