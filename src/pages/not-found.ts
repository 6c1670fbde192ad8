import { RPCError } from "../errors.ts";

/**
 * An error for an item that does not exist. A page that throws it responds with 404; the caller of a server function
 * receives the `RPCError` `not_found`.
 *
 * @param message shown to the user. Default: `There is nothing here.`
 * @example if (!article) throw new NotFound("This article does not exist.");
 */
export class NotFound extends RPCError {
  constructor(message = "There is nothing here.") {
    super("not_found", message);
  }
}
