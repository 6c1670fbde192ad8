import { type Parameter, RPC_PREFIX } from "../protocol/index.ts";
import { type Checked, type Definition, isChecked, uncheckedParts } from "../rpc/index.ts";
import type { Inspection } from "../server/index.ts";
import { answerWith, loadApp } from "./load-app.ts";

/**
 * Prints all that an application serves.
 *
 * @param root the application's folder
 */
export async function printRoutes(root: string): Promise<void> {
  answerWith(routesText(await loadApp(root)));
}

const MARKS: Readonly<Record<Checked, string>> = { whole: "", partly: "~", not: "*" };

const UNCHECKED = `  ${MARKS.not} Nothing checks it: whatever a caller sends is passed on. Annotate it int, float, number or boolean, give it
    a schema with server({ validate }, …), or check it in the function.`;

const STRICT_HELPS = " With new App({ strict: true }) more types are checked.";

const PARTLY = `  ${MARKS.partly} Parts of it are not checked:`;

/** Lists pages, routes and functions, and marks every parameter that nothing checks, or not all of it. */
export function routesText(app: Inspection): string {
  const { base, pages, routes, functions } = app;
  const calls = functions.map((each) => [callOf(each, app), place(each.signature)] as const);
  const text = [
    section(
      "Pages",
      pages.map((page) => [`GET     ${base}${page.path}`, place(page.source)]),
    ),
    section(
      "Routes",
      routes.map((route) => [`${route.method.padEnd(8)}${base}${route.path}`, place(route.source)]),
    ),
    section(`Functions, each a POST to ${base}${RPC_PREFIX}<name>`, calls),
    legend(app),
  ];
  return text.filter((each) => each !== "").join("\n");
}

function legend(app: Inspection): string {
  const { functions, strict } = app;
  const unchecked = functions.some((each) => each.signature.params.some((one) => checked(one, each, app) === "not"));
  const parts = functions.flatMap((each) =>
    each.signature.params
      .filter((one) => checked(one, each, app) === "partly")
      .flatMap((one) => uncheckedParts(one, each.signature).map((part) => `    ${each.signature.name}: ${part}`)),
  );
  const lines = [
    ...(unchecked ? [UNCHECKED + (strict ? "" : STRICT_HELPS)] : []),
    ...(parts.length > 0 ? [PARTLY, ...parts] : []),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function section(title: string, lines: readonly (readonly [what: string, where: string])[]): string {
  if (lines.length === 0) return "";
  const width = Math.min(WIDEST, Math.max(...lines.map(([what]) => what.length)));
  return `${title}\n${lines.map(([what, where]) => `  ${what.padEnd(width)}  ${where}\n`).join("")}`;
}

/** A longer line has its place further right, so that one does not push all others there. */
const WIDEST = 72;

function callOf(definition: Definition, app: Inspection): string {
  const { signature, options } = definition;
  const list = signature.params.map((parameter) => shown(parameter, definition, app)).join(", ");
  const params = signature.keyed ? `{ ${list} }` : list;
  const notes = [signature.stream ? "a stream" : "", options.auth_required ? "signed in" : ""].filter(Boolean);
  return `${signature.name}(${params})${notes.length > 0 ? `  (${notes.join(", ")})` : ""}`;
}

function shown(parameter: Parameter, definition: Definition, app: Inspection): string {
  const { name, type, optional, annotation } = parameter;
  const said = annotation || (type === "any" ? "" : type);
  return `${name}${optional ? "?" : ""}${said ? `: ${said}` : ""}${MARKS[checked(parameter, definition, app)]}`;
}

function checked(parameter: Parameter, { options, signature }: Definition, { strict }: Inspection): Checked {
  return Object.hasOwn(options.validate ?? {}, parameter.name) ? "whole" : isChecked(parameter, signature, strict);
}

function place({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${file}:${line}`;
}
