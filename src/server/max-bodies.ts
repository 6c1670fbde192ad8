import { MAX_BODY_BYTES, MAX_BODY_BYTES_PER_CLIENT } from "../bodies/index.ts";
import type { Config } from "../config/index.ts";
import { type FunctionDefinition, maxCallBody, maxFormBody } from "../rpc/index.ts";
import type { Listing } from "./modules.ts";

/** What an application accepts of request bodies. */
export interface BodyMaximums {
  readonly functions: Iterable<FunctionDefinition>;
  readonly routes: Listing["routes"];
  /** The option of the application. */
  readonly maxBody: number | undefined;
  readonly config: Pick<Config, "maxUploadBytesPerClient">;
}

/**
 * Checks that the uploads of one client may be as large as one body of each function and route.
 *
 * @throws RangeError otherwise: such a body would always be refused
 */
export function checkMaxBodies({ functions, routes, maxBody, config }: BodyMaximums): void {
  const limit = config.maxUploadBytesPerClient;
  const check = (owner: string, bytes: number) => {
    if (bytes <= limit) return;
    throw new RangeError(
      `max_body of ${owner} is ${bytes}, but one client may have only ${limit} bytes of uploads at once. Set ` +
        "WEB_MAX_UPLOAD_BYTES_PER_CLIENT, and WEB_MAX_UPLOAD_BYTES, to more.",
    );
  };
  for (const definition of functions)
    check(`the function ${definition.signature.name}`, maxFormBody(definition, maxBody));
  for (const { options, method, path } of routes) {
    check(`the route ${method} ${path}`, options.max_body ?? maxBody ?? MAX_BODY_BYTES);
  }
}

/**
 * Returns how many bytes of bodies one client may have in memory: at least the largest JSON that a function accepts.
 *
 * @param maxBody the option of the application
 */
export function maxBodyBytesPerClient(
  functions: ReadonlyMap<string, FunctionDefinition>,
  maxBody: number | undefined,
): number {
  return Math.max(
    MAX_BODY_BYTES_PER_CLIENT,
    ...[...functions.values()].map((definition) => maxCallBody(definition, maxBody)),
  );
}
