import { FORM_PREFIX, type Parameter, RPC_PREFIX, type TypeShape } from "../protocol/index.ts";
import { checkCoverage, type FunctionDefinition } from "../rpc/index.ts";
import { formatLocation, type Inspection } from "../server/index.ts";
import type { ApplicationInfo, EndpointInfo, FunctionInfo, InputKind, ParameterInfo } from "./panel-data.ts";
import { isSecret } from "./redact.ts";

/** Returns the data of an application that the panel shows. */
export function describeApplication(app: Inspection): ApplicationInfo {
  const { base, pages, routes, functions, title } = app;
  const endpoint = (kind: "page" | "route", method: string, path: string, location: string): EndpointInfo => ({
    kind,
    method,
    path: base + path,
    location,
  });
  return {
    title,
    functions: functions.map((definition) => describeFunction(definition, app)),
    endpoints: [
      ...pages.map(({ path, source }) => endpoint("page", "GET", path, formatLocation(source))),
      ...routes.map(({ method, path, source }) => endpoint("route", method, path, formatLocation(source))),
    ],
    error: null,
  };
}

function describeFunction(definition: FunctionDefinition, app: Inspection): FunctionInfo {
  const { signature, options } = definition;
  const { name, stream, params, documentation = {} } = signature;
  const { description, deprecated } = documentation;
  return {
    name,
    path: `${app.base}${RPC_PREFIX}${encodeURIComponent(name)}`,
    formPath: `${app.base}${FORM_PREFIX}${encodeURIComponent(name)}`,
    location: formatLocation(signature),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    stream: stream === true,
    requiresSignIn: options.auth_required === true,
    params: params.map((parameter) => describeParameter(parameter, definition, app)),
  };
}

function describeParameter(
  parameter: Parameter,
  { signature, options }: FunctionDefinition,
  { strict }: Inspection,
): ParameterInfo {
  const { name, annotation, type, optional, nullable } = parameter;
  const { params: descriptions = {}, defaults = {} } = signature.documentation ?? {};
  const description = Object.hasOwn(descriptions, name) ? descriptions[name] : undefined;
  const defaultText = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
  const hasSchema = Object.hasOwn(options.validate ?? {}, name);
  const choices = choicesOf(parameter);
  return {
    name,
    type: annotation || (type === "any" ? "" : type),
    optional: optional === true,
    nullable: nullable === true || parameter.shape?.nullable === true,
    ...(description === undefined ? {} : { description }),
    ...(defaultText === undefined ? {} : { defaultText }),
    checked: hasSchema ? "full" : checkCoverage(parameter, signature, strict),
    input: choices.length > 0 ? "choice" : inputOf(parameter),
    choices,
    secret: isSecret(name),
  };
}

/** Returns how the value of a parameter is entered. A type that is not known is entered as JSON, which has all values. */
function inputOf({ type, files, shape, annotation, literals, nullable }: Parameter): InputKind {
  if (files) return files === "one" ? "file" : "files";
  if (literals && literals.length > 0) return "json"; // `int | "all"`
  if (type !== "boolean" && (nullable || shape?.nullable)) return "json"; // no text stands for `null`
  if (type !== "any") return type;
  const isText = shape ? isOnly(shape, ["kinds"]) && shape.kinds?.join() === "string" : annotation === "string";
  return isText ? "text" : "json";
}

/** Returns the values of a type that has only literals, as JSON. */
function choicesOf({ type, shape, files }: Parameter): string[] {
  if (type !== "any" || files || !shape || !isOnly(shape, ["literals"])) return [];
  return (shape.literals ?? []).map((literal) => JSON.stringify(literal));
}

/** Returns whether a type has no other members than these, apart from `null` and `undefined`. */
function isOnly(shape: TypeShape, members: readonly (keyof TypeShape)[]): boolean {
  const all: readonly string[] = [...members, "nullable", "optional"];
  return Object.keys(shape).every((member) => all.includes(member));
}
