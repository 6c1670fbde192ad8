import type { ESTree } from "vite";
import { attributesOf, isIntrinsicName, locationIn, type ModuleFacts, type ModuleResolver } from "../modules/index.ts";
import {
  CompileError,
  findNode,
  isFunctionNode,
  isMarkup,
  memberName,
  memberPath,
  type Node,
  nodesOf,
  type PlacedNode,
  type Scope,
  stringValue,
  unwrapExpression,
} from "../syntax/index.ts";

/** What JSX has in place of the directives of Vue and AngularJS. */
const DIRECTIVES: Readonly<Record<string, string>> = {
  "v-if": "{isShown && <p>…</p>}",
  "v-else": "{isShown ? <p>…</p> : <p>…</p>}",
  "v-else-if": "{isShown ? <p>…</p> : <p>…</p>}",
  "v-show": "hidden={!isShown}",
  "v-for": "{items.map((item) => <li key={item.id}>…</li>)}",
  "v-model": "value={form.name} onInput={(event) => (form.name = event.currentTarget.value)}",
  "v-on": "onClick={() => …}",
  "v-bind": "class={…}",
  "v-text": "<p>{text}</p>",
  "ng-if": "{isShown && <p>…</p>}",
  "ng-show": "hidden={!isShown}",
  "ng-hide": "hidden={isHidden}",
  "ng-repeat": "{items.map((item) => <li key={item.id}>…</li>)}",
  "ng-model": "value={form.name} onInput={(event) => (form.name = event.currentTarget.value)}",
  "ng-click": "onClick={() => …}",
  "ng-class": "class={…}",
};

/**
 * Rejects markup of views that has no effect, or never the intended one, and that neither TypeScript nor the browser reports:
 * directives of other frameworks, the markup of a `forEach`, random keys, and the value of a checkbox that has none
 * or never changes.
 *
 * Modules without views are not checked: a page may be for a script that reads such attributes.
 *
 * @throws CompileError at the attribute or the expression
 */
export function checkSilentMarkup(facts: ModuleFacts): void {
  const { scopes, source, views } = facts;
  if (views.length === 0) return;
  const reject = (message: string, at: Node): never => {
    throw new CompileError(message, source, at);
  };
  for (const { node, scope } of nodesOf(scopes, "JSXOpeningElement", "JSXElement", "JSXFragment")) {
    if (node.type === "JSXOpeningElement") {
      for (const attribute of node.attributes) {
        const message =
          attribute.type === "JSXAttribute" && (directiveMessage(node, attribute) ?? keyMessage(attribute, scope));
        if (message) reject(message, attribute);
      }
      const value = readOnOffValue(node);
      if (value) reject(ON_OFF_VALUE, value);
      const unchanged = findUnchangedValue(node);
      if (unchanged) reject(unchanged.message, unchanged.at);
    }
    if (node.type === "JSXElement" || node.type === "JSXFragment") {
      const loop = node.children.find(isLoopOfMarkup);
      if (loop) reject(FOR_EACH, loop);
    }
  }
}

const FOR_EACH =
  "forEach returns nothing, so this markup is not shown. Write map: `{items.map((item) => <li key={item.id}>…</li>)}`.";

const ON_OFF_VALUE =
  'The value of this element is always the text "on", because it has no attribute `value`. Read `event.currentTarget.checked`.';

/** Custom elements define their own attributes. */
function directiveMessage({ name: element }: ESTree.JSXOpeningElement, attribute: ESTree.JSXAttribute) {
  if (!isIntrinsicName(element) || element.type !== "JSXIdentifier" || element.name.includes("-")) return undefined;
  const { name } = attribute;
  const directive = name.type === "JSXIdentifier" ? name.name : name.namespace.name;
  if (!Object.hasOwn(DIRECTIVES, directive)) return undefined;
  return `The attribute ${directive} has no effect: it is a directive of ${directive.startsWith("v") ? "Vue" : "AngularJS"}. Write \`${DIRECTIVES[directive]}\`.`;
}

function keyMessage({ name, value }: ESTree.JSXAttribute, scope: Scope): string | undefined {
  if (name.type !== "JSXIdentifier" || name.name !== "key" || value?.type !== "JSXExpressionContainer")
    return undefined;
  const call = unwrapExpression(value.expression);
  const path = call.type === "CallExpression" ? memberPath(call.callee) : undefined;
  const isRandom = ["Math.random", "crypto.randomUUID"].includes(path?.join(".") ?? "");
  if (!isRandom || scope.findValue(path?.[0] ?? "")) return undefined;
  return "This key is different at each rendering, so the element is created again and loses its state and its focus. Use a value that stays, such as an id: `key={item.id}`.";
}

/** Returns whether a child is a call of `forEach` whose function returns markup. */
function isLoopOfMarkup(child: ESTree.JSXChild): boolean {
  if (child.type !== "JSXExpressionContainer") return false;
  const inner = unwrapExpression(child.expression);
  const call = inner.type === "ChainExpression" ? inner.expression : inner;
  if (call.type !== "CallExpression" || call.callee.type !== "MemberExpression") return false;
  const callback = call.arguments[0] && unwrapExpression(call.arguments[0]);
  if (memberName(call.callee) !== "forEach" || !callback || !isFunctionNode(callback) || !callback.body) return false;
  const { body } = callback;
  const last = body.type === "BlockStatement" ? body.body.at(-1) : undefined;
  const result = last?.type === "ReturnStatement" ? last.argument : body;
  return result !== null && result !== undefined && isMarkup(unwrapExpression(result));
}

/**
 * Returns where a handler of a checkbox or a radio button reads the value of its element, which has none: `undefined` if the
 * element may have one.
 */
function readOnOffValue(element: ESTree.JSXOpeningElement): Node | undefined {
  const { name, attributes } = element;
  const named = attributesOf(element);
  if (name.type !== "JSXIdentifier" || name.name !== "input" || named.length < attributes.length) return undefined;
  if (named.some((attribute) => /^(?:value|defaultValue|ref)$/i.test(attribute.name))) return undefined;
  const type = stringOf(named.findLast((attribute) => attribute.name === "type")?.value);
  if (type !== "checkbox" && type !== "radio") return undefined;
  const handlers = named.flatMap(({ name: on, value }) => (value && /^on[A-Z]/.test(on) ? [value] : []));
  return handlers.map(valueRead).find((node) => node !== undefined);
}

/** Returns where an arrow function reads `event.currentTarget.value`, if it assigns nothing to it. */
function valueRead(handler: Node): Node | undefined {
  const fn = unwrapExpression(handler);
  const [event] = isFunctionNode(fn) ? fn.params : [];
  if (event?.type !== "Identifier") return undefined;
  const path = `${event.name}.currentTarget.value`;
  const isPath = (node: Node) => memberPath(node)?.join(".") === path;
  if (findNode(fn, (node) => node.type === "AssignmentExpression" && isPath(node.left))) return undefined;
  return findNode(fn, (node) => node.type === "MemberExpression" && isPath(node));
}

/** A value that a checkbox or a radio button assigns to itself. */
interface UnchangedValue {
  readonly message: string;
  readonly at: Node;
}

/**
 * Returns where the handler of a checkbox or a radio button assigns the element's value to what this value is read from, as in
 * `<input type="checkbox" value={form.terms} onChange={(event) => (form.terms = event.currentTarget.value)} />`: whether
 * it is checked never arrives there.
 */
function findUnchangedValue(element: ESTree.JSXOpeningElement): UnchangedValue | undefined {
  if (element.name.type !== "JSXIdentifier" || element.name.name !== "input") return undefined;
  const values = new Map(attributesOf(element).flatMap(({ name, value }) => (value ? [[name, value]] : [])));
  const type = stringOf(values.get("type"));
  const own = values.get("value");
  const path = own && memberPath(own)?.join(".");
  if ((type !== "checkbox" && type !== "radio") || path === undefined) return undefined;
  for (const [attribute, handler] of values) {
    const at = /^on[A-Z]/.test(attribute) ? ownAssignment(handler, path) : undefined;
    if (at) return { message: messageOf(type, path), at };
  }
  return undefined;
}

function stringOf(node: Node | undefined): string | undefined {
  return node && stringValue(node);
}

/** Returns the assignment of the event's `currentTarget.value`, or `target.value`, to a path. */
function ownAssignment(handler: Node, path: string): Node | undefined {
  const [event] = isFunctionNode(handler) ? handler.params : [];
  if (event?.type !== "Identifier") return undefined;
  const received = [`${event.name}.currentTarget.value`, `${event.name}.target.value`];
  return findNode(
    handler,
    (node) =>
      node.type === "AssignmentExpression" &&
      node.operator === "=" &&
      memberPath(node.left)?.join(".") === path &&
      received.includes(memberPath(node.right)?.join(".") ?? ""),
  );
}

function messageOf(type: "checkbox" | "radio", path: string): string {
  const problem = `This assigns to \`${path}\` the value that it already has, because the user changes whether the element is checked, and not its value.`;
  return type === "checkbox"
    ? `${problem} Write \`checked={${path}} onChange={(event) => (${path} = event.currentTarget.checked)}\`.`
    : `${problem} Give each radio button a value of its own: \`value="red" checked={${path} === "red"}\`.`;
}

/** Elements and components whose text may be code: there, `//` is no mistake. */
const CODE =
  /^(?:code|pre|kbd|samp|tt|var|textarea|script|style|xmp)$|code|pre$|snippet|highlight|terminal|shell|console/i;

/**
 * Returns a warning for each place in the markup of a module that shows what was not meant to be shown: a comment that is text
 * in JSX, and the `0` of `{items.length && …}`.
 *
 * Errs towards silence: text in elements for code, `//` in the middle of a line, and addresses are accepted, and of conditions
 * only those whose value is certainly a number are reported.
 *
 * @param resolver.root the project's root; the file names in the warnings are relative to it
 */
export function markupWarnings(facts: ModuleFacts, { root }: Pick<ModuleResolver, "root">): string[] {
  const { scopes, source } = facts;
  const warnings: string[] = [];
  const warn = (at: number, message: string) => warnings.push(`${locationIn(facts, at, root)} ${message}`);
  for (const place of nodesOf(scopes, "JSXElement", "JSXFragment")) {
    const inCode = isInCode(place);
    for (const child of place.node.children) {
      if (child.type === "JSXText" && !inCode) warnAboutComments(child, source.code, warn);
      if (child.type === "JSXExpressionContainer") warnAboutZero(child, source.code, warn);
    }
  }
  return warnings;
}

type Warn = (at: number, message: string) => void;

/** Returns whether the text of an element is code. A function in an attribute of an element for code may render anything. */
function isInCode(place: PlacedNode): boolean {
  for (let each: PlacedNode | undefined = place; each; each = each.outer) {
    if (each.node.type === "JSXAttribute") return false;
    if (each.node.type === "JSXElement" && isCodeElement(each.node)) return true;
  }
  return false;
}

function isCodeElement({ openingElement: { name } }: ESTree.JSXElement): boolean {
  const own = name.type === "JSXMemberExpression" ? name.property.name : name.type === "JSXIdentifier" ? name.name : "";
  return CODE.test(own);
}

/** Lines that begin with `//`, but for addresses such as `//cdn.example/x.js`, and comments of blocks at the start of a line. */
const COMMENT = /^[^\S\n]*(?<comment>\/\/(?!\S*[\w-]\.[a-z])(?=\s|\w)[^\n]*|\/\*[\s\S]*?\*\/)/gim;

function warnAboutComments({ start, end }: ESTree.JSXText, code: string, warn: Warn): void {
  const text = code.slice(start, end);
  for (const { index, 0: match, groups } of text.matchAll(COMMENT)) {
    const comment = groups?.comment ?? "";
    // `<h2>// News</h2>` is a style of headings.
    if (comment.startsWith("//") && !text.slice(0, index).includes("\n")) continue;
    const content = comment
      .replace(/^\/\/\s*|^\/\*+\s*|\s*\*+\/$/g, "")
      .replace(/\s+/g, " ")
      .trim();
    const short = content.length > 40 ? `${content.slice(0, 40)}…` : content;
    warn(
      start + index + match.length - comment.length,
      `shows the comment "${short}" as text, because it is in markup. Write \`{/* ${short} */}\`, or \`{"…"}\` to show it.`,
    );
  }
}

/** Warns about `{items.length && <p>…</p>}`, which shows `0` for an empty list. */
function warnAboutZero({ expression, start }: ESTree.JSXExpressionContainer, code: string, warn: Warn): void {
  const condition = unwrapExpression(expression);
  if (condition.type !== "LogicalExpression" || condition.operator !== "&&") return;
  const shown = unwrapExpression(condition.right);
  if (!isMarkup(shown)) return;
  const number = lastOperand(condition.left);
  const inner = number.type === "ChainExpression" ? number.expression : number;
  if (inner.type !== "MemberExpression" || !["length", "size"].includes(memberName(inner) ?? "")) return;
  // `props.size` may be a text.
  if (memberName(inner) === "size" && !isSetOrMap(inner.object)) return;
  const text = code.slice(number.start, number.end).replace(/\s+/g, " ");
  warn(start, `shows "0" if ${text} is 0. Write \`{${text} > 0 && …}\`.`);
}

/** Returns the operand whose value a chain of `&&` has if the others are truthy. */
function lastOperand(left: Node): Node {
  const inner = unwrapExpression(left);
  return inner.type === "LogicalExpression" && inner.operator === "&&" ? lastOperand(inner.right) : inner;
}

function isSetOrMap(object: Node): boolean {
  const inner = unwrapExpression(object);
  const callee = inner.type === "NewExpression" ? memberPath(inner.callee)?.join(".") : undefined;
  return callee === "Set" || callee === "Map";
}
