import { type HandlerResponse, jsonResponse, type RequestContext } from "../http/index.ts";
import { BUILD_HEADER } from "../protocol/index.ts";
import { callerError, errorResponse, findFunction, redirectHeader, trackSignIn } from "../rpc/index.ts";
import type { FormSettings } from "./form-settings.ts";
import { requireForm } from "./require-form.ts";
import { runForm } from "./run-form.ts";

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
