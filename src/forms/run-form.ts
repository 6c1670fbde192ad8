import type { RPCError } from "../errors.ts";
import { forgetOnce, type HandlerResponse, type RequestContext, run as runToEnd } from "../http/index.ts";
import { ARGUMENTS_FIELD, BUILD_HEADER, CSRF_FIELD, IDEMPOTENCY_HEADER } from "../protocol/index.ts";
import {
  callerError,
  countArguments,
  errorResponse,
  type FunctionDefinition,
  type FunctionRedirect,
  type FunctionResult,
  type FunctionRun,
  findFunction,
  outcomeResponse,
  runOnce,
  trackSignIn,
} from "../rpc/index.ts";
import type { FormFields } from "./convert-field.ts";
import { bindForm, callArguments, validateForm, withFieldErrors } from "./form-arguments.ts";
import { type FormSettings, type ReceivedForm, receiveForm, requireForm, textOf } from "./receive-form.ts";

/** What a form led to. */
export type FormOutcome = FunctionRedirect | FormSuccess | FormRefusal;

/** The function returned a value. */
export interface FormSuccess extends FunctionResult {
  readonly received: ReceivedForm;
  /** The names of the fields that are lists. */
  readonly lists: ReadonlySet<string>;
}

/** The form was refused, or its function failed. */
export interface FormRefusal {
  readonly kind: "refusal";
  readonly received: ReceivedForm;
  readonly error: RPCError;
  /** The unexpected error, which `error` does not show. */
  readonly cause?: unknown;
  /** The names of the fields that are lists. */
  readonly lists: ReadonlySet<string>;
}

/**
 * Handles a form that has passed `requireForm`: receives it, converts its fields, applies the schemas, and runs the
 * function. What it throws is the outcome.
 *
 * @param match the function, if there is one of the name
 * @throws RequestError 400, 408, 413, 429 or 503 if the body cannot be read within its limits
 * @see docs/protocol.md 15.2
 */
export async function runForm(
  context: RequestContext,
  match: FunctionDefinition | undefined,
  settings: FormSettings,
): Promise<FormOutcome> {
  const received = await receiveForm(context, match, settings);
  const { definition, refusal } = received;
  const operation = `The form of ${match?.signature.name ?? "a function"}`;
  if (!definition || refusal) {
    const error = callerError(refusal, context, settings.log, operation);
    return { kind: "refusal", received, error, lists: definition ? bindForm(definition, received.fields).lists : NONE };
  }
  const bound = bindForm(definition, received.fields);
  // The arguments of a call with files; undefined if the fields are those of a form.
  const text = settings.keepsFields ? undefined : textOf(received.fields, ARGUMENTS_FIELD);
  try {
    const run: FunctionRun = {
      context,
      definition,
      args: () => {
        const args =
          text === undefined
            ? validateForm(definition, bound)
            : callArguments(definition, { fields: received.fields, text }, settings.strict);
        return countArguments(definition, args, settings);
      },
      operation,
      settings,
    };
    const key = settings.keepsFields ? settings.once : context.inbound.header(IDEMPOTENCY_HEADER);
    const running = runOnce(run, { key, fields: () => describeFields(received.fields) });
    const outcome = "kind" in running ? running : await runToEnd(running);
    switch (outcome.kind) {
      case "redirect":
        return outcome;
      case "success":
        return { ...outcome, received, lists: bound.lists };
      case "failure": {
        const { error, cause } = outcome;
        return { kind: "refusal", received, error: withFieldErrors(error), cause, lists: bound.lists };
      }
    }
  } finally {
    // The page is rendered after the function, which may have changed what was loaded, and has its own time.
    forgetOnce(context);
    context.clearTimeoutSignal();
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Returns all fields of a form as a text, apart from the CSRF token, which differs in each page. */
function describeFields(fields: FormFields): string {
  return JSON.stringify([...fields].filter(([name]) => name !== CSRF_FIELD));
}

/**
 * Handles a form that a script sends to the form address of a function. The response is that of a call. An error on the
 * way becomes the response, so that it never throws.
 *
 * @param name the name of the function, percent-encoded
 * @see docs/protocol.md 15.1
 */
export async function handleFormCall(
  context: RequestContext,
  name: string,
  settings: Omit<FormSettings, "keepsFields" | "version" | "once">,
): Promise<HandlerResponse> {
  const { functions, log } = settings;
  const signIn = trackSignIn(context);
  const respond = async (): Promise<HandlerResponse> => {
    requireForm(context, log);
    const version = context.inbound.header(BUILD_HEADER);
    const outcome = await runForm(context, findFunction(functions, name), { ...settings, version, keepsFields: false });
    if (outcome.kind === "refusal") return errorResponse(outcome.error, context, log);
    return outcomeResponse(outcome, context, log);
  };
  const response = await respond().catch((error: unknown) =>
    errorResponse(callerError(error, context, log, `The form of ${name}`), context, log),
  );
  return signIn.withFreshToken(response);
}
