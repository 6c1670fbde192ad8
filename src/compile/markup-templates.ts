import type MagicString from "magic-string";
import type { ModuleFacts } from "./modules/index.ts";
import { readStaticMarkup, type StaticMarkup } from "./static-markup.ts";
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
