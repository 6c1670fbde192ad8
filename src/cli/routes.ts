import type { Inspection } from "../inspection.ts";
import type { Definition, Parameter } from "../rpc/index.ts";
import { answerWith, loadApp } from "./load-app.ts";

/**
 * Prints all that an application serves.
 *
 * @param root the application's folder
 */
export async function printRoutes(root: string): Promise<void> {
  answerWith(routesText(await loadApp(root)));
}

const UNCHECKED = "*";

const LEGEND = `  ${UNCHECKED} Nothing checks it: whatever a caller sends is passed on. Annotate it int, float, number or boolean, give it
    a schema with server({ validate }, …), or check it in the function.
`;

/** Lists pages, routes and functions, and marks every parameter that nothing checks. */
export function routesText({ base, pages, routes, functions }: Inspection): string {
  const calls = functions.map((each) => [callOf(each), place(each.signature)] as const);
  const text = [
    section(
      "Pages",
      pages.map((page) => [`GET     ${base}${page.path}`, place(page.source)]),
    ),
    section(
      "Routes",
      routes.map((route) => [`${route.method.padEnd(8)}${base}${route.path}`, place(route.source)]),
    ),
    section(`Functions, each a POST to ${base}/__web/rpc/<name>`, calls),
  ];
  const hasUnchecked = functions.some((each) => !each.signature.params.every((one) => isChecked(one, each)));
  return [...text.filter((each) => each !== ""), ...(hasUnchecked ? [LEGEND] : [])].join("\n");
}

function section(title: string, lines: readonly (readonly [what: string, where: string])[]): string {
  if (lines.length === 0) return "";
  const width = Math.min(WIDEST, Math.max(...lines.map(([what]) => what.length)));
  return `${title}\n${lines.map(([what, where]) => `  ${what.padEnd(width)}  ${where}\n`).join("")}`;
}

/** A longer line has its place further right, so that one does not push all others there. */
const WIDEST = 72;

function callOf(definition: Definition): string {
  const { signature, options } = definition;
  const list = signature.params.map((parameter) => shown(parameter, definition)).join(", ");
  const params = signature.keyed ? `{ ${list} }` : list;
  const notes = [signature.stream ? "a stream" : "", options.auth_required ? "signed in" : ""].filter(Boolean);
  return `${signature.name}(${params})${notes.length > 0 ? `  (${notes.join(", ")})` : ""}`;
}

function shown(parameter: Parameter, definition: Definition): string {
  const { name, type, optional, annotation } = parameter;
  const said = annotation || (type === "any" ? "" : type);
  return `${name}${optional ? "?" : ""}${said ? `: ${said}` : ""}${isChecked(parameter, definition) ? "" : UNCHECKED}`;
}

function isChecked({ name, type }: Parameter, { options }: Definition): boolean {
  return type !== "any" || Object.hasOwn(options.validate ?? {}, name);
}

function place({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${file}:${line}`;
}
