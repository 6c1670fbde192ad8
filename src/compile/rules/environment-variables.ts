import { locationIn, type ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  keyName,
  memberName,
  type Node,
  nodesOf,
  type Scopes,
  unwrapExpression,
  walk,
} from "../syntax/index.ts";
import type { ExposedVariables, ViteRuleResolver } from "./rule.ts";

/** The constants of Vite that are not in the list of a resolved config, and the marker of Vitest for code in its tests. */
const CONSTANTS: ReadonlySet<string> = new Set(["SSR", "VITEST"]);

/**
 * Rejects variables of `import.meta.env` that are always undefined, because the option `envPrefix` of the Vite config does not
 * include them.
 *
 * A variable that the module itself tests, or reads with a default, may be missing on purpose: it is rejected only if the
 * environment has it.
 *
 * @param env the environment of the process
 * @returns a warning for each variable that has the prefix and is not set, unless the module tests it
 * @throws CompileError at the variable
 */
export function checkEnvironmentVariables(
  facts: ModuleFacts,
  { exposed, root }: Pick<ViteRuleResolver, "exposed" | "root">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string[] {
  const { scopes, source, isServerModule } = facts;
  // Tests in the source use what Vitest provides.
  if (!exposed || !source.code.includes("import.meta") || source.code.includes("import.meta.vitest")) return [];
  const { reads, tested } = readVariables(scopes);
  const warnings = new Map<string, string>();
  for (const { name, at } of reads) {
    if (CONSTANTS.has(name) || exposed.has(name)) continue;
    const isOptional = tested.has(name);
    const hasPrefix = exposed.prefixes.some((prefix) => name.startsWith(prefix));
    if (!hasPrefix && !(isOptional && !env[name])) {
      throw new CompileError(isServerModule ? serverMessage(name) : browserMessage(name, exposed), source, at);
    }
    if (!hasPrefix || isOptional || warnings.has(name)) continue;
    warnings.set(
      name,
      `\`import.meta.env.${name}\` at ${locationIn(facts, at.start, root)} is undefined, because the variable is not set. Set it in the environment ` +
        "of tsweb dev and tsweb build, or test it before its use.",
    );
  }
  return [...warnings.values()];
}

/** A variable that a module reads. */
interface VariableRead {
  readonly name: string;
  readonly at: Node;
}

/** Returns the variables that a module reads, and the names of those that it tests or gives a default to. */
function readVariables(scopes: Scopes): { reads: VariableRead[]; tested: ReadonlySet<string> } {
  const reads: VariableRead[] = [];
  const tested = new Set<string>();
  const assigned = new Set<Node>();
  for (const { node } of nodesOf(scopes, ...CONDITIONAL_NODES)) {
    for (const condition of conditionsOf(node)) {
      walk(condition, (part) => {
        const name = variableOf(part);
        if (name !== undefined) tested.add(name);
        return true;
      });
    }
  }
  for (const { node } of nodesOf(scopes, "AssignmentExpression")) assigned.add(node.left);
  for (const { node } of nodesOf(scopes, "VariableDeclarator", "MemberExpression")) {
    if (node.type === "VariableDeclarator" && node.init && isEnvironment(node.init)) {
      for (const read of destructured(node.id)) {
        reads.push(read);
        if (read.hasDefault) tested.add(read.name);
      }
    }
    const name = variableOf(node);
    if (name !== undefined && !assigned.has(node)) reads.push({ name, at: node });
  }
  return { reads, tested };
}

const CONDITIONAL_NODES = [
  ...(["LogicalExpression", "ConditionalExpression", "IfStatement"] as const),
  ...(["BinaryExpression", "UnaryExpression", "SwitchStatement"] as const),
];

/** Returns the parts of a node that decide what it does next, or which value it has. */
function conditionsOf(node: Node): Node[] {
  switch (node.type) {
    case "LogicalExpression":
      return [node.left];
    case "ConditionalExpression":
    case "IfStatement":
      return [node.test];
    case "BinaryExpression":
      return [node.left, node.right];
    case "UnaryExpression":
      return [node.argument];
    case "SwitchStatement":
      return [node.discriminant];
    default:
      return [];
  }
}

/** Returns the name that `import.meta.env.NAME` reads; `undefined` for other expressions. */
function variableOf(node: Node): string | undefined {
  return node.type === "MemberExpression" && isEnvironment(node.object) ? memberName(node) : undefined;
}

/** Returns whether an expression is `import.meta.env`. */
function isEnvironment(expression: Node): boolean {
  const inner = unwrapExpression(expression);
  if (inner.type !== "MemberExpression" || memberName(inner) !== "env") return false;
  const object = unwrapExpression(inner.object);
  return object.type === "MetaProperty" && object.meta.name === "import" && object.property.name === "meta";
}

function destructured(pattern: Node): (VariableRead & { readonly hasDefault: boolean })[] {
  if (pattern.type !== "ObjectPattern") return [];
  return pattern.properties.flatMap((property) => {
    if (property.type !== "Property" || property.computed) return [];
    const name = keyName(property);
    return name === undefined ? [] : [{ name, at: property, hasDefault: property.value.type === "AssignmentPattern" }];
  });
}

function serverMessage(name: string): string {
  return (
    `import.meta.env.${name} is undefined: Vite sets only the variables that it sends to browsers. Write ` +
    `\`process.env.${name}\`, which only the server has.`
  );
}

function browserMessage(name: string, { prefixes }: ExposedVariables): string {
  if (name === "NODE_ENV")
    return "import.meta.env.NODE_ENV is undefined. Write `import.meta.env.DEV` or `import.meta.env.PROD`.";
  const page = `Read process.env.${name} in the page, and pass it as a prop.`;
  const [prefix] = prefixes;
  if (prefix !== undefined) {
    return (
      `import.meta.env.${name} is undefined: browsers receive only variables whose names begin with ` +
      `${prefixes.join(" or ")} (\`envPrefix\` in the Vite config). ${page} If everybody may read it, name it ${prefix}${name}.`
    );
  }
  const [own = "PUBLIC_"] = /^(?:VITE|PUBLIC|NEXT_PUBLIC|REACT_APP)_(?=.)/.exec(name) ?? [];
  const rename = name.startsWith(own) ? "" : ` and name the variable ${own}${name}`;
  return (
    `import.meta.env.${name} is undefined: browsers receive no variables of the environment. ${page} If everybody may read ` +
    `it, write \`envPrefix: "${own}"\` in vite.config.ts${rename}.`
  );
}
