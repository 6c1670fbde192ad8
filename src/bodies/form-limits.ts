import { CONNECTION_CLOSE, RequestError } from "../http/index.ts";

/** The maximum number of text fields in a form. @see docs/protocol.md 2.7 */
export const MAX_FIELDS = 1000;

/** The maximum number of files in a form. @see docs/protocol.md 2.7 */
export const MAX_FILES = 100;

/** The maximum number of parts of a form, those included that are neither a field nor a file: each takes time to parse. */
export const MAX_PARTS = MAX_FIELDS + MAX_FILES;

/** The maximum size of the headers of one part, in bytes. A longer header is cut there. */
export const MAX_PART_HEADER_BYTES = 8 * 1024;

/** The maximum number of headers of one part. */
export const MAX_PART_HEADERS = 20;

/** The maximum of bytes of all text fields of a form together, names included. @see docs/protocol.md 2.7 */
export const MAX_FIELD_BYTES = 1024 * 1024;

/** Returns the error for a form that has too much of something: status 413, and the connection is closed. */
export function formTooLargeError(what: string, maximum: string): RequestError {
  return new RequestError("validation_error", `This form has too ${what}. The maximum is ${maximum}.`, {
    status: 413,
    headers: CONNECTION_CLOSE,
  });
}

/** Returns the error for a form that cannot be read: status 400, and the connection is closed. */
export function malformedFormError(reason: string): RequestError {
  return new RequestError("validation_error", `The form cannot be read: ${reason}.`, {
    status: 400,
    headers: CONNECTION_CLOSE,
  });
}
