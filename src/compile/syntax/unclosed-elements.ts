import { type ESTree, parseAst } from "vite";
import { languageOf } from "./module-id.ts";
import { VOID_ELEMENTS } from "./syntax-hints.ts";
import { type Node, walk } from "./walk.ts";

/** Bounds the time of the search in a long module. */
const MAX_PARSED_CHARACTERS = 2_000_000;

/**
 * Returns the opening tag of the element whose missing closing tag is the only syntax error of a module. The parser reports
 * such an error far below: at the first brace after the element, which it takes for text, or at the end of the module.
 *
 * @param offset where the parser reports the error
 * @returns `undefined` if no closing tag at the end of a line makes the module valid
 */
export function findUnclosedElement(file: string, code: string, offset: number): UnclosedElement | undefined {
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
  let opening: Node | undefined;
  walk(program, (node) => {
    if (node.type === "JSXElement" && node.closingElement?.start === closing) opening = node.openingElement;
    return opening === undefined;
  });
  return opening;
}
