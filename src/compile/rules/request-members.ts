import type { ESTree } from "vite";
import { importedNameOf, type ModuleFacts, tswebMemberOf } from "../modules/index.ts";
import {
  CompileError,
  keysReadBy,
  memberName,
  type Node,
  nodesOf,
  type ReadKey,
  type Scope,
  type SourceFile,
  stringValue,
  unwrapChain,
} from "../syntax/index.ts";

/** The members of `request` that are plain objects of strings. */
const PLAIN_OBJECTS: ReadonlySet<string> = new Set(["headers", "query", "cookies"]);

/** The methods of `Headers`, `URLSearchParams` and of the cookies of other frameworks, which plain objects do not have. */
const METHODS: ReadonlySet<string> = new Set(["get", "has", "set", "getAll", "append", "delete"]);

const BODY_FIX =
  "A server function receives the values of a call or a form as its parameters. A route receives the request: " +
  '`route("POST /…", async (request) => { const body = await request.json(); … })`.';

/** What other frameworks have in their requests and `request` does not, and what to write in its place. */
const MISSING_MEMBERS: Readonly<Record<string, string>> = {
  params: 'A page and a route receive the parts of their path: `page("/users/:id", ({ id }) => …)`.',
  body: BODY_FIX,
  json: BODY_FIX,
  text: BODY_FIX,
  formData: BODY_FIX,
  url: "Write request.path and request.query.",
  ip: "Write request.address.",
  session: 'Import `session` of "tsweb".',
  user: 'Import `session` of "tsweb", and write session.user().',
};

/** What to do in place of an assignment to an object of `tsweb`. */
const ASSIGNMENT_FIXES: Readonly<Record<string, string>> = {
  session:
    "A session holds what session.login(id, claims) has stored. Store what changes in the database, or in a cookie: " +
    "request.set_cookie(name, value).",
  request: "It is one object for all requests. Pass the value as an argument, or load it with once().",
};

const CHECKED_NODES = [
  ...([
    "CallExpression",
    "AssignmentExpression",
    "UpdateExpression",
    "MemberExpression",
    "VariableDeclarator",
  ] as const),
];

/**
 * Rejects what is certainly wrong with the objects of `request`: a header's name with a capital letter, which is always
 * `undefined`, calls of the methods of `Headers` or a `Map`, and assignments, because the objects are frozen. Also the members of the requests of other frameworks, and
 * assignments to members of `request` and `session`.
 *
 * @throws CompileError at the expression
 */
export function checkRequestMembers({ source, scopes }: ModuleFacts): void {
  if (!/["']tsweb["']/.test(source.code) || !/\b(?:request|session)\b/.test(source.code)) return;
  for (const { node, scope } of nodesOf(scopes, ...CHECKED_NODES)) {
    if (node.type === "CallExpression") rejectMethod(node, scope, source);
    rejectAssignment(node, scope, source);
    for (const { key, object, at } of keysReadBy(node)) {
      rejectMissingMember({ key, object, at }, scope, source);
      if (key === key.toLowerCase() || key in Object.prototype || objectName(object, scope) !== "headers") continue;
      const text = textOf(object, source);
      const message = `${text} has no "${key}", because the names in it are in lower case. Write ${text}["${key.toLowerCase()}"].`;
      throw new CompileError(message, source, at);
    }
  }
}

function rejectMethod(call: ESTree.CallExpression, scope: Scope, source: SourceFile): void {
  const callee = unwrapChain(call.callee);
  if (call.optional || callee.type !== "MemberExpression") return;
  const method = memberName(callee);
  const name = objectName(callee.object, scope);
  if (method === undefined || !METHODS.has(method) || name === undefined) return;
  const text = textOf(callee.object, source);
  const key = call.arguments[0] ? stringValue(call.arguments[0]) : undefined;
  const read = `${text}[${JSON.stringify((name === "headers" ? key?.toLowerCase() : key) ?? "name")}]`;
  throw new CompileError(
    `${text} is a plain object without the method ${method}. ${fixFor(method, name, read)}`,
    source,
    callee,
  );
}

function rejectMissingMember({ key, object, at }: ReadKey, scope: Scope, source: SourceFile): void {
  const imported = importedNameOf(unwrapChain(object), scope);
  if (imported?.source !== "tsweb" || imported.name !== "request" || !Object.hasOwn(MISSING_MEMBERS, key)) return;
  throw new CompileError(`${textOf(object, source)} has no ${key}. ${MISSING_MEMBERS[key]}`, source, at);
}

function rejectAssignment(node: Node, scope: Scope, source: SourceFile): void {
  const target =
    node.type === "AssignmentExpression" ? node.left : node.type === "UpdateExpression" ? node.argument : undefined;
  const member = target && unwrapChain(target);
  if (member?.type !== "MemberExpression") return;
  const name = objectName(member.object, scope);
  if (name !== undefined) {
    const fix = fixFor("set", name, textOf(member, source));
    throw new CompileError(`${textOf(member.object, source)} cannot be changed. ${fix}`, source, member);
  }
  const imported = importedNameOf(unwrapChain(member.object), scope);
  if (imported?.source !== "tsweb" || !Object.hasOwn(ASSIGNMENT_FIXES, imported.name)) return;
  const message = `${textOf(member.object, source)} cannot be assigned to. ${ASSIGNMENT_FIXES[imported.name]}`;
  throw new CompileError(message, source, member);
}

function fixFor(method: string, name: string, read: string): string {
  if (method === "get" || method === "getAll") return `Write ${read}.`;
  if (method === "has") return `Write ${read} !== undefined.`;
  return name === "cookies"
    ? "Set a cookie with request.set_cookie(name, value)."
    : `It is what the browser has sent and cannot be changed; read it with ${read}.`;
}

/** Returns which object of `request` an expression is; `undefined` if it certainly is none. */
function objectName(expression: Node, scope: Scope): string | undefined {
  const found = tswebMemberOf(expression, scope);
  return found?.object === "request" && PLAIN_OBJECTS.has(found.member) ? found.member : undefined;
}

function textOf(node: Node, source: SourceFile): string {
  const value = unwrapChain(node);
  return source.code.slice(value.start, value.end);
}
