import { type FormValue, formTypeOf, readForm, requireIdentityEncoding } from "../bodies/index.ts";
import { RPCError } from "../errors.ts";
import { CONNECTION_CLOSE, type RequestContext, RequestError, requireSameOrigin } from "../http/index.ts";
import { requireLeft } from "../limits/index.ts";
import type { AppLog } from "../logging/index.ts";
import { CSRF_FIELD, CSRF_HEADER, KEY_FIELD } from "../protocol/index.ts";
import {
  adviseOfMaxBody,
  type CallSettings,
  type FunctionDefinition,
  isStaleError,
  maxFormBody,
  requireCsrfToken,
  requireFunction,
  requireSameSignature,
  requireSignIn,
} from "../rpc/index.ts";
import type { FormFields } from "./convert-field.ts";

/** A form that was received. It may have been refused: then nothing of its files was stored. */
export interface ReceivedForm {
  /** The function; `undefined` if there is none of the name, or a stream. */
  readonly definition: FunctionDefinition | undefined;
  /** The fields; empty if the form was refused before they were read. */
  readonly fields: FormFields;
  /** The key of the form; empty without one. */
  readonly key: string;
  readonly refusal: RPCError | null;
}

/**
 * Receives a form that has passed `requireForm`: rate limit, function, sign-in, then the body, with the CSRF token before
 * the first file.
 *
 * With `keepsFields`, the fields of a refused form are read as well, since the page shows again what was typed.
 *
 * @throws RequestError 400, 408, 413, 429 or 503 if the body cannot be read within its limits
 * @see docs/protocol.md 15.2
 */
export async function receiveForm(
  context: RequestContext,
  match: FunctionDefinition | undefined,
  settings: FormSettings,
): Promise<ReceivedForm> {
  const definition = match?.signature.stream ? undefined : match;
  const refusal = await checkBeforeBody(context, definition, settings);
  if (!refusal && definition) return readAccepted(context, definition, settings);
  // Of a function that exists in the build of the page only, too.
  const isKnown = definition !== undefined || isStaleError(refusal);
  if (isKnown && settings.keepsFields) return readRefused(context, definition, refusal);
  return { definition, fields: new Map(), key: "", refusal };
}

async function checkBeforeBody(
  context: RequestContext,
  definition: FunctionDefinition | undefined,
  settings: FormSettings,
): Promise<RPCError | null> {
  const counted = await settings.limits.countCall(context, definition?.limits);
  return refusalOf(() => {
    requireLeft(counted);
    requireSignIn(requireFunction(definition, settings.version, settings));
  });
}

function refusalOf(check: () => void): RPCError | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof RPCError) return error;
    throw error;
  }
}

/**
 * The size up to which a form above the rate is read, in bytes. Most forms have less. Parsing 1 MiB takes so long that a few
 * clients above their rate could keep the server busy.
 */
const MAX_READ_ABOVE_RATE = 64 * 1024;

/** Reads the fields of a form that is refused anyway: at most as much as other bodies have, and no files. */
async function readRefused(
  context: RequestContext,
  definition: FunctionDefinition | undefined,
  refusal: RPCError | null,
): Promise<ReceivedForm> {
  const maxBody = refusal?.code === "rate_limited" ? MAX_READ_ABOVE_RATE : undefined;
  const fields = await readForm(context, { maxBody }).then(
    (body) => withLineFeeds(body.fields),
    (error: unknown): FormFields => {
      if (error instanceof RequestError) return new Map(); // the refusal is the answer, without what was typed
      throw error;
    },
  );
  return { definition, fields, key: keyOf(fields), refusal };
}

async function readAccepted(
  context: RequestContext,
  definition: FunctionDefinition,
  settings: FormSettings,
): Promise<ReceivedForm> {
  const { keepsFields, max_body } = settings;
  let refusal: RPCError | null = null;
  const takesFile = fileFields(definition);
  const body = await readForm(context, {
    maxBody: maxFormBody(definition, max_body),
    takesFile: takesFile && ((field) => refusal === null && takesFile(field)),
    beforeFiles: (texts) => {
      // A script sends the latest token as a header: the field may be older than a sign-in in another tab.
      const token = context.inbound.header(CSRF_HEADER) ?? textOf(texts, CSRF_FIELD);
      refusal = refusalOf(() => {
        requireCsrfToken(context, definition, token);
        requireSameSignature(definition, settings.version, settings);
      });
      if (refusal && !keepsFields) throw refusal;
    },
  }).catch((error: unknown) => {
    adviseOfMaxBody(error, context, definition, { kind: "form", fallback: max_body });
    throw error;
  });
  const fields = withLineFeeds(body.fields);
  return { definition, fields, key: keyOf(fields), refusal };
}

/**
 * Returns a function that returns whether a field takes files: its parameter is declared as a file. Returns `undefined` if
 * there is no such parameter.
 */
function fileFields({ signature }: FunctionDefinition): ((field: string) => boolean) | undefined {
  const names = new Set(signature.params.filter(({ files }) => files).map(({ name }) => name));
  return names.size === 0 ? undefined : (field) => names.has(field);
}

/** Returns fields with line ends as JavaScript has them: forms are sent with CRLF. */
function withLineFeeds(fields: FormFields): FormFields {
  const normalize = (value: FormValue) => (typeof value === "string" ? value.replaceAll("\r\n", "\n") : value);
  return new Map([...fields].map(([name, values]) => [name, values.map(normalize)]));
}

/** Returns the first text of a field. */
export function textOf(fields: FormFields, name: string): string | undefined {
  return fields.get(name)?.find((value) => typeof value === "string");
}

function keyOf(fields: FormFields): string {
  return textOf(fields, KEY_FIELD) ?? "";
}

/** The settings of the forms of an application, and of their two addresses. */
export interface FormSettings
  extends Pick<
    CallSettings,
    | "functions"
    | "log"
    | "limits"
    | "rpc_timeout"
    | "max_body"
    | "strict"
    | "development"
    | "build"
    | "connectionsBefore"
  > {
  /** The application's base, which is prepended to redirects. */
  readonly base: string;
  /** Whether the fields of a refused form are read: a page shows again what was typed. */
  readonly keepsFields: boolean;
  /** The build of the page and the hash of the function, as the form carries them. @see docs/protocol.md 3.9 */
  readonly version: string | null | undefined;
  /** The key of a form that is sent without script, in the rendering from which it was sent. */
  readonly once?: string | undefined;
}

/**
 * Throws unless a request is the form of a page of this site: its method is POST, its content type is that of a form,
 * and its origin is that of the site.
 *
 * @throws RequestError `validation_error` with the status 405 or 415, or `forbidden`
 * @see docs/protocol.md 15.2
 */
export function requireForm(context: RequestContext, log: AppLog): void {
  const { method } = context.inbound;
  if (method !== "POST") {
    throw new RequestError("validation_error", `Method ${method} is not allowed: send a form with POST.`, {
      status: 405,
      headers: { allow: "POST", ...CONNECTION_CLOSE },
    });
  }
  if (formTypeOf(context.inbound.header("content-type")) === null) {
    const message = "The content type of a form must be multipart/form-data or application/x-www-form-urlencoded.";
    throw new RequestError("validation_error", message, { status: 415, headers: CONNECTION_CLOSE });
  }
  requireIdentityEncoding(context.inbound);
  requireSameOrigin(context, log, "form");
}
