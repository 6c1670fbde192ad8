/** A mistake in the application's files. The message is complete, also without a location and a stack. */
export class ProjectError extends Error {
  override get name(): string {
    return "ProjectError";
  }
}
