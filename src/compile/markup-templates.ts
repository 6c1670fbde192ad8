import type MagicString from "magic-string";
import type { ESTree } from "vite";
import { scriptUrlAttributes } from "../protocol/index.ts";
import type { ModuleFacts } from "./modules/index.ts";
import { childrenOf, type Node } from "./syntax/index.ts";

/** The entry point whose function creates the nodes of templates. */
const RUNTIME = "tsweb/jsx-runtime";

/**
 * Replaces static markup by templates: `<p class="note">{text}</p>` becomes `template(p0, [text])`, and the module ends with
 * a function `p0`, which returns the markup with the values of an array in place of the expressions. The expressions stay
 * where they are, so that their locations in stacks do not change.
 *
 * A module whose JSX is not that of the application has no templates.
 *
 * @see src/pages/template-node.ts
 */
export function emitTemplates(text: MagicString, { program, source }: ModuleFacts): void {
  if (/@jsx/.test(source.code)) return; // a comment that selects another library, or one that only mentions it
  const emitter = new TemplateEmitter(text, source.code);
  emitter.visit(program, undefined);
  emitter.finish();
}

class TemplateEmitter {
  readonly #text: MagicString;
  readonly #code: string;
  /** The beginning of all names of the generated code: the module contains no such name. */
  readonly #prefix: string;
  readonly #functions: string[] = [];

  constructor(text: MagicString, code: string) {
    this.#text = text;
    this.#code = code;
    let prefix = "_markup";
    while (code.includes(prefix)) prefix = `_${prefix}`;
    this.#prefix = prefix;
  }

  /** Replaces the static markup of a node and its descendants, innermost first. */
  visit(node: Node, parent: Node | undefined): void {
    const markup = node.type === "JSXElement" ? readStaticMarkup(node) : undefined;
    if (!markup) {
      for (const child of childrenOf(node)) this.visit(child, node);
      return;
    }
    const { values, key } = markup;
    for (const value of key ? [...values, key] : values) this.visit(value.node, undefined);
    this.#replace(markup, parent !== undefined && isJsx(parent));
  }

  /** Adds the functions of the templates to the end of the module, where functions and imports are hoisted from. */
  finish(): void {
    if (this.#functions.length === 0) return;
    const runtime = `import { template as ${this.#prefix} } from ${JSON.stringify(RUNTIME)};`;
    this.#text.append(`\n;${[...this.#functions, runtime].join("\n")}\n`);
  }

  #replace({ element, values, key }: StaticMarkup, isInJsx: boolean): void {
    const text = this.#text;
    const name = `${this.#prefix}${this.#functions.length}`;
    this.#functions.push(
      `function ${name}(v, k) { return ${this.#markupOf({ element, values, ...(key && { key }) })}; }`,
    );
    const space = /[\w$]/.test(this.#code[element.start - 1] ?? "") ? " " : "";
    let end = element.start;
    let inserted = `${isInJsx ? "{" : space}${this.#prefix}(${name}, [`;
    const all = [...values, ...(key ? [key] : [])].sort((a, b) => a.range.start - b.range.start);
    for (const value of all) {
      const { node } = value;
      if (value !== key && value !== values[0]) inserted += ", ";
      if (end < node.start) text.overwrite(end, node.start, inserted);
      else text.appendLeft(end, inserted);
      inserted = "";
      end = node.end;
    }
    const close = isInJsx ? "}" : "";
    text.overwrite(end, element.end, `${inserted}${key ? "" : "])"}${close}`);
    if (!key) return;
    text.prependRight(key.node.start, "], ").appendLeft(key.node.end, ")");
    // JSX evaluates the key after the other expressions.
    if (all.at(-1) !== key) text.move(key.node.start, key.node.end, end);
  }

  /** Returns the source of markup with `v[0]`, `v[1]` … in place of its values, and `k` in place of its key. */
  #markupOf({ element, values, key }: StaticMarkup): string {
    const replaced = [
      ...values.map(({ range }, index) => ({ range, by: `{v[${index}]}` })),
      ...(key ? [{ range: key.range, by: "{k}" }] : []),
    ].sort((a, b) => a.range.start - b.range.start);
    let source = "";
    let end = element.start;
    for (const { range, by } of replaced) {
      source += this.#code.slice(end, range.start) + by;
      end = range.end;
    }
    return source + this.#code.slice(end, element.end);
  }
}

function isJsx({ type }: Node): boolean {
  return type === "JSXElement" || type === "JSXFragment" || type === "JSXAttribute";
}

/** A value in static markup: an expression of an attribute or a child, or an element that is no static markup. */
interface MarkupValue {
  readonly node: Node;
  /** What the value replaces: the braces around an expression, or the element. */
  readonly range: { readonly start: number; readonly end: number };
}

/** Static markup: an element whose elements and attributes are known, around values. */
interface StaticMarkup {
  readonly element: ESTree.JSXElement;
  /** In the order of the source, which is that of their evaluation. */
  readonly values: readonly MarkupValue[];
  /** The `key` of the element, which JSX evaluates after its children. */
  readonly key?: MarkupValue;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/**
 * The elements that are never part of static markup: those of forms, which the server fills in and gives addresses
 * (src/pages/form-rendering.ts), those that load or contain code, those that animate an attribute, those of `<head>`, and
 * `foreignObject`, below which attributes have other names.
 */
const EXCLUDED_ELEMENTS = set(
  "form button input select option optgroup textarea datalist script style template slot iframe frame frameset object embed " +
    "portal animate set animateMotion animateTransform foreignObject html head body title meta link base noscript",
);

const VOID_ELEMENTS = set("area br col command embed hr img input keygen link meta param source track wbr base");

/** The attributes, in lower case, that are URLs which a browser opens: `src/protocol/script-url.ts`. */
const URL_ATTRIBUTES = set("href src action formaction xlinkhref data to from by values srcdoc");

/** The attributes, in lower case, for which the renderer has rules beyond their value. */
const EXCLUDED_ATTRIBUTES = set(
  "ref children dangerouslysetinnerhtml value defaultvalue checked defaultchecked selected defaultselected is constructor",
);

/** An attribute with a value of any kind: the renderer writes its name unchanged, in HTML and in SVG. */
const SIMPLE_NAME = /^[a-z][a-z0-9-]*$|^className$|^htmlFor$/;
/** Names with capitals are different ones in HTML and in SVG, so that they are static only inside an image. */
const IMAGE_NAME = /^[a-zA-Z][a-zA-Z0-9-]*$/;

/**
 * Returns the static markup that begins at an element; `undefined` if there is none. Errs towards none: spread props, event
 * handlers, and URLs and styles that are computed are not static, except for URLs of which the source has the beginning.
 */
function readStaticMarkup(element: ESTree.JSXElement): StaticMarkup | undefined {
  const values: MarkupValue[] = [];
  const key = readElement(element, values, { isRoot: true, isInImage: false });
  if (key === undefined || (values.length === 0 && isBare(element))) return undefined;
  return { element, values, ...(key === "none" ? {} : { key }) };
}

/** Returns whether an element has nothing that a template would save. */
function isBare({ children, openingElement: { attributes } }: ESTree.JSXElement): boolean {
  return children.length === 0 && attributes.length === 0;
}

interface Position {
  readonly isRoot: boolean;
  /** Whether the element is inside an SVG image, where the names of attributes may differ. */
  readonly isInImage: boolean;
}

/** Adds the values of an element. Returns its key, `"none"` without one, and `undefined` if it is not static. */
function readElement(
  { openingElement, children }: ESTree.JSXElement,
  values: MarkupValue[],
  { isRoot, isInImage }: Position,
): MarkupValue | "none" | undefined {
  const { name } = openingElement;
  if (name.type !== "JSXIdentifier" || !/^[a-z][A-Za-z0-9]*$/.test(name.name)) return undefined;
  if (EXCLUDED_ELEMENTS.has(name.name) || (VOID_ELEMENTS.has(name.name) && children.length > 0)) return undefined;
  const added: MarkupValue[] = [];
  const isImage = isInImage || name.name === "svg";
  const key = readAttributes(openingElement.attributes, added, isImage ? IMAGE_NAME : SIMPLE_NAME);
  if (key === undefined || (key !== "none" && !isRoot)) return undefined;
  for (const child of children) if (!readChild(child, added, isImage)) return undefined;
  values.push(...added);
  return key;
}

function readChild(child: ESTree.JSXChild, values: MarkupValue[], isInImage: boolean): boolean {
  switch (child.type) {
    case "JSXText":
      return true;
    case "JSXElement":
      if (readElement(child, values, { isRoot: false, isInImage })) return true;
      break;
    case "JSXFragment":
      break;
    case "JSXExpressionContainer":
      if (child.expression.type === "JSXEmptyExpression" || isLiteral(child.expression)) return true;
      // Attributes of elements in a value have other names in an image. The renderer would not know that it is one.
      if (isInImage) return false;
      values.push({ node: child.expression, range: child });
      return true;
    default:
      return false;
  }
  if (isInImage) return false;
  values.push({ node: child, range: child });
  return true;
}

function readAttributes(
  attributes: ESTree.JSXOpeningElement["attributes"],
  values: MarkupValue[],
  names: RegExp,
): MarkupValue | "none" | undefined {
  let key: MarkupValue | undefined;
  const seen = new Set<string>();
  for (const attribute of attributes) {
    if (attribute.type !== "JSXAttribute" || attribute.name.type !== "JSXIdentifier") return undefined;
    const { name } = attribute.name;
    const unique = name === "className" ? "class" : name === "htmlFor" ? "for" : name.toLowerCase();
    if (seen.has(unique) || !names.test(name)) return undefined;
    seen.add(unique);
    const container = attribute.value?.type === "JSXExpressionContainer" ? attribute.value : undefined;
    const value: MarkupValue | undefined = container && { node: container.expression, range: container };
    if (name === "key") {
      if (!value) return undefined;
      key = value;
    } else if (!isStaticAttribute(name, attribute.value)) {
      if (!value || !mayBeComputed(name, value.node)) return undefined;
      values.push(value);
    }
  }
  return key ?? "none";
}

function isExcluded(name: string): boolean {
  return EXCLUDED_ATTRIBUTES.has(name.toLowerCase()) || /^on/i.test(name);
}

function mayBeComputed(name: string, value: Node): boolean {
  if (!SIMPLE_NAME.test(name) || isExcluded(name) || name === "style") return false;
  return !URL_ATTRIBUTES.has(name) || beginsSafely(value);
}

/**
 * Returns whether a URL is a template literal whose beginning decides its scheme, as that of `/users/${id}` does. All other
 * computed URLs are checked when they are rendered, because they may be those of scripts.
 */
function beginsSafely(url: Node): boolean {
  return url.type === "TemplateLiteral" && /^(?:[/?#]|https?:\/\/)/.test(url.quasis[0]?.value.cooked ?? "");
}

/** Returns whether the value of an attribute is written in the source, and is no URL of a script. */
function isStaticAttribute(name: string, value: ESTree.JSXAttribute["value"]): boolean {
  if (isExcluded(name)) return false;
  if (value === null) return !URL_ATTRIBUTES.has(name.toLowerCase());
  if (value.type === "Literal") return isSafe(name, value.value);
  if (value.type !== "JSXExpressionContainer") return false;
  const { expression } = value;
  if (name === "style" && expression.type === "ObjectExpression") return isLiteralObject(expression);
  return expression.type === "Literal" && isLiteral(expression) && isSafe(name, expression.value);
}

/** Strings of JSX may have entities, which the parser leaves as they are: a URL with one may be of any scheme. */
function isSafe(name: string, value: unknown): boolean {
  if (!URL_ATTRIBUTES.has(name.toLowerCase())) return true;
  // `object` has all of these attributes. An element on which a URL would be removed keeps its own node.
  return typeof value === "string" && !value.includes("&") && !scriptUrlAttributes("object", { [name]: value });
}

function isLiteral(node: Node): boolean {
  if (node.type !== "Literal") return false;
  return node.value === null ? node.raw === "null" : ["string", "number", "boolean"].includes(typeof node.value);
}

function isLiteralObject({ properties }: ESTree.ObjectExpression): boolean {
  return properties.every(
    (property) =>
      property.type === "Property" &&
      !property.computed &&
      property.kind === "init" &&
      !property.method &&
      isLiteral(property.value) &&
      (property.key.type === "Identifier" ? property.key.name !== "__proto__" : isLiteral(property.key)),
  );
}
