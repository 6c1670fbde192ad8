import { type ESTree, parseAst } from "vite";
import { CompileError, type SourceFile, sourceLocation } from "./compile-error.ts";
import { findNode, type Node } from "./nodes.ts";
import { nodesOf, patternNames, type Scopes } from "./scope.ts";

/**
 * Parses a module, with its types and parentheses.
 *
 * @throws CompileError on a syntax error
 */
export function parse(source: SourceFile): ESTree.Program {
  const lang = languageOf(source.file) ?? "tsx";
  try {
    return parseAst(source.code, { lang, sourceType: "module", preserveParens: true }, source.file);
  } catch (error) {
    throw asCompileError(error, source);
  }
}

function asCompileError(error: unknown, source: SourceFile): CompileError {
  const position = typeof error === "object" && error !== null && "pos" in error ? Number(error.pos) : 0;
  const text = error instanceof Error ? error.message : String(error);
  // The parser's message continues with a code frame. CompileError adds its own.
  const message = text.split("\n").find((line) => line !== "" && !line.startsWith("Parse failed")) ?? text;
  const offset = Number.isFinite(position) ? position : 0;
  const unclosed = /^(?:Unexpected|Expected)/.test(message.trim())
    ? findUnclosedElement(source.file, source.code, offset)
    : undefined;
  if (unclosed) {
    const { line } = sourceLocation(source, unclosed.start);
    const { name } = unclosed;
    return new CompileError(
      `\`<${name}>\` in line ${line} is not closed. Write \`</${name}>\` after its children.`,
      source,
      unclosed,
    );
  }
  const hint = syntaxHint(message.trim(), source.code, offset);
  return new CompileError(hint === "" ? message.trim() : `${withPeriod(message.trim())} ${hint}`, source, {
    start: offset,
    end: offset + 1,
  });
}

function withPeriod(sentence: string): string {
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}

/**
 * Rejects a second `const`, `let` or `class` of a name in one block, which the parser accepts and no runtime does.
 *
 * @throws CompileError at the second declaration
 */
export function rejectRedeclarations(scopes: Scopes, source: SourceFile): void {
  for (const { node } of nodesOf(scopes, "Program", "BlockStatement")) checkBlock(node.body, source);
}

function checkBlock(statements: readonly Node[], source: SourceFile): void {
  const names = new Set<string>();
  for (const statement of statements) {
    for (const { name, at } of lexicalNames(statement)) {
      if (names.has(name)) {
        throw new CompileError(`"${name}" is declared twice. Rename or remove one of the declarations.`, source, at);
      }
      names.add(name);
    }
  }
}

function lexicalNames(statement: Node): { readonly name: string; readonly at: Node }[] {
  const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (!declared || ("declare" in declared && declared.declare)) return [];
  if (declared.type === "ClassDeclaration") return declared.id ? [{ name: declared.id.name, at: declared.id }] : [];
  if (declared.type !== "VariableDeclaration" || declared.kind === "var") return [];
  return declared.declarations.flatMap(({ id }) => patternNames(id).map((name) => ({ name, at: id })));
}

/** The elements of HTML without a closing tag. JSX requires a slash in them. */
const VOID_ELEMENTS: ReadonlySet<string> = new Set([
  ...["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"],
]);

/**
 * Returns how to fix a syntax error that is common in markup; `""` for any other.
 *
 * @param message the parser's message
 * @param code the text of the module
 * @param offset where the parser reports the error
 */
function syntaxHint(message: string, code: string, offset: number): string {
  const [, unclosed] = /closing tag for '([^']*)'/.exec(message) ?? [];
  if (unclosed !== undefined) {
    return VOID_ELEMENTS.has(unclosed)
      ? `JSX needs a slash in it: write \`<${unclosed} />\`.`
      : `Write \`</${unclosed}>\` before this tag, or remove this tag.`;
  }
  if (message.startsWith("Adjacent JSX elements")) return "Write `<>` before them and `</>` after them.";
  if (message.startsWith("`await` is only allowed")) {
    return "Declare the function around it as async. A view cannot be async: await the data in the page, and pass it as a prop.";
  }
  if (code.startsWith("<!--", offset) || code.startsWith("<!--", offset - 1))
    return "JSX has no HTML comments: write `{/* comment */}`.";
  if (/^(?:if|switch)\b/.test(code.slice(offset)) && /\{\s*$/.test(code.slice(0, offset)))
    return "Braces in markup contain an expression: write `{condition && <p>…</p>}` or `{condition ? … : …}`.";
  if (/^(?:for|while)\b/.test(code.slice(offset)) && /\{\s*$/.test(code.slice(0, offset)))
    return "Braces in markup contain an expression: write `{items.map((item) => <li key={item.id}>…</li>)}`.";
  if (message.includes("but found `;`") && message.includes("`}`"))
    return "Braces in markup contain an expression: remove the semicolon.";
  return "";
}

/** Bounds the time of the search in a long module. */
const MAX_PARSED_CHARACTERS = 2_000_000;

/**
 * Returns the opening tag of the element whose missing closing tag is the only syntax error of a module. The parser reports
 * such an error far below: at the first brace after the element, which it takes for text, or at the end of the module.
 *
 * @param offset where the parser reports the error
 * @returns `undefined` if no closing tag at the end of a line makes the module valid
 */
function findUnclosedElement(file: string, code: string, offset: number): UnclosedElement | undefined {
  const lang = languageOf(file) ?? "tsx";
  if (lang !== "tsx" && lang !== "jsx") return undefined;
  const names = unclosedNames(code.slice(0, offset));
  let budget = MAX_PARSED_CHARACTERS;
  for (const end of lineEndsBefore(code, offset)) {
    for (const name of names) {
      budget -= code.length;
      if (budget < 0) return undefined;
      const program = tryParse(`${code.slice(0, end)}</${name}>${code.slice(end)}`, lang, file);
      const opening = program && openingOf(program, end);
      if (opening) return { name, start: opening.start, end: opening.end };
    }
  }
  return undefined;
}

interface UnclosedElement {
  readonly name: string;
  /** The range of its opening tag. */
  readonly start: number;
  readonly end: number;
}

/** Returns the names of elements that have more opening tags than closing tags. */
function unclosedNames(code: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const [, slash, name = ""] of code.matchAll(/<(\/?)([A-Za-z][\w.-]*)/g)) {
    counts.set(name, (counts.get(name) ?? 0) + (slash ? -1 : 1));
  }
  return [...counts].filter(([name, count]) => count > 0 && !VOID_ELEMENTS.has(name)).map(([name]) => name);
}

/** Returns the ends of the lines before an offset, the last first. */
function lineEndsBefore(code: string, offset: number): readonly number[] {
  const ends = [...code.slice(0, offset).matchAll(/[^\S\n]*\n/g)].map(({ index }) => index);
  return [...ends, code.slice(0, offset).trimEnd().length].reverse();
}

function tryParse(code: string, lang: "tsx" | "jsx", file: string): ESTree.Program | undefined {
  try {
    return parseAst(code, { lang, sourceType: "module", preserveParens: true }, file);
  } catch {
    return undefined; // the closing tag does not belong here
  }
}

/** Returns the opening tag of the element whose closing tag starts at an offset. */
function openingOf(program: ESTree.Program, closing: number): Node | undefined {
  const element = findNode(program, (node) => node.type === "JSXElement" && node.closingElement?.start === closing);
  return element?.type === "JSXElement" ? element.openingElement : undefined;
}

const LANGUAGES = {
  ts: "ts",
  mts: "ts",
  cts: "ts",
  tsx: "tsx",
  js: "jsx",
  mjs: "jsx",
  cjs: "jsx",
  jsx: "jsx",
} as const;

/** Returns whether a file belongs to an installed package. */
export function isInNodeModules(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}

/** Removes `?query` and `#hash` from a module id. */
export function stripQuery(id: string): string {
  return id.replace(/[?#].*$/s, "");
}

/** Returns whether an id has one of Vite's queries that import a file as text, URL or worker instead of as a module. */
export function hasAssetQuery(id: string): boolean {
  return /[?&](?:raw|url|inline|no-inline|init|worker|sharedworker)(?:[&=#]|$)/.test(id);
}

/** Returns whether a file is TypeScript or JavaScript, by its extension. */
export function isScript(file: string): boolean {
  return languageOf(file) !== undefined;
}

/** Returns the language of a file by its extension; `undefined` when it is neither TypeScript nor JavaScript. */
export function languageOf(file: string): (typeof LANGUAGES)[keyof typeof LANGUAGES] | undefined {
  const extension = file.slice(file.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension as keyof typeof LANGUAGES] : undefined; // an own key: checked
}
