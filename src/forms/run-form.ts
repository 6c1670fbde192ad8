import type { RPCError } from "../errors.ts";
import {
  forgetOnce,
  type HandlerResponse,
  jsonResponse,
  type RedirectTarget,
  type RequestContext,
  redirectTarget,
} from "../http/index.ts";
import { BUILD_HEADER, toJson } from "../protocol/index.ts";
import {
  callerError,
  callerErrorOfFunction,
  errorResponse,
  type FunctionDefinition,
  findFunction,
  redirectHeader,
  showInDevelopment,
  trackSignIn,
  withTimeLimit,
} from "../rpc/index.ts";
import { argumentsField, bindForm, callArguments, validateForm, withFieldErrors } from "./form-arguments.ts";
import { type FormSettings, type ReceivedForm, receiveForm, requireForm } from "./receive-form.ts";

/** What a form led to. */
export type FormOutcome = FormRedirect | FormSuccess | FormRefusal;

/** The function returned or threw a redirect. */
export interface FormRedirect {
  readonly kind: "redirect";
  readonly target: RedirectTarget;
}

/** The function returned a value. */
export interface FormSuccess {
  readonly kind: "success";
  readonly received: ReceivedForm;
  /** The result as JSON: `null` for nothing. */
  readonly json: string;
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
  const text = settings.keepsFields ? undefined : argumentsField(received.fields);
  let isRunning = false;
  try {
    const seconds = definition.options.rpc_timeout ?? settings.rpc_timeout;
    const result = await withTimeLimit(context, seconds, async () => {
      const args = await (text === undefined
        ? validateForm(definition, bound)
        : callArguments(definition, { fields: received.fields, text }, settings.strict));
      isRunning = true;
      return definition.run(...args);
    });
    isRunning = false; // that a result cannot be serialised is a bug, whatever its error is
    const target = redirectTarget(result, settings.base);
    return target
      ? { kind: "redirect", target }
      : { kind: "success", received, json: toJson(result, definition.serialization), lists: bound.lists };
  } catch (cause) {
    const target = redirectTarget(cause, settings.base);
    if (target) return { kind: "redirect", target };
    const toCallerError = isRunning ? callerErrorOfFunction : callerError;
    const forCaller = toCallerError(cause, context, settings.log, operation);
    const error = withFieldErrors(showInDevelopment(cause, forCaller, settings));
    return { kind: "refusal", received, error, cause, lists: bound.lists };
  } finally {
    // The page is rendered after the function, which may have changed what was loaded, and has its own time.
    forgetOnce(context);
    context.clearTimeoutSignal();
  }
}

const NONE: ReadonlySet<string> = new Set();

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
  settings: Omit<FormSettings, "keepsFields" | "version">,
): Promise<HandlerResponse> {
  const { functions, log } = settings;
  const signIn = trackSignIn(context);
  const respond = async (): Promise<HandlerResponse> => {
    requireForm(context, log);
    const version = context.inbound.header(BUILD_HEADER);
    const outcome = await runForm(context, findFunction(functions, name), { ...settings, version, keepsFields: false });
    switch (outcome.kind) {
      case "redirect":
        return jsonResponse(200, '{"result":null}', redirectHeader(outcome.target));
      case "success":
        return jsonResponse(200, `{"result":${outcome.json}}`);
      case "refusal":
        return errorResponse(outcome.error, context, log);
    }
  };
  const response = await respond().catch((error: unknown) =>
    errorResponse(callerError(error, context, log, `The form of ${name}`), context, log),
  );
  return signIn.withFreshToken(response);
}
