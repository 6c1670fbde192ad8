/**
 * Says that a value is not one the function can work with: the caller gets it as
 * `validation_error` with this message, and the log gets its stack.
 *
 * @see the interface, "Errors", rule 1
 */
export class ValueError extends Error {
  override get name(): string {
    return "ValueError";
  }
}
