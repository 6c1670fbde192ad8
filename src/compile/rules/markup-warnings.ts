import type { ESTree } from "vite";
import { type ModuleFacts, type ModuleResolver, relativePath } from "../modules/index.ts";
import {
  memberName,
  memberPath,
  type Node,
  nodesOf,
  type PlacedNode,
  sourceLocation,
  unwrapExpression,
} from "../syntax/index.ts";

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
export function markupWarnings({ scopes, source }: ModuleFacts, { root }: Pick<ModuleResolver, "root">): string[] {
  const warnings: string[] = [];
  const warn = (at: number, message: string) => {
    const location = `${relativePath(source.file, root)}:${sourceLocation(source, at).line}`;
    warnings.push(`${location} ${message}`);
  };
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
  if (shown.type !== "JSXElement" && shown.type !== "JSXFragment") return;
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
