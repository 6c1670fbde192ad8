/** A mistake in the application's files. The message is complete, also without a location and a stack. */
export class ProjectError extends Error {
  override get name(): string {
    return "ProjectError";
  }
}

/** Returns a file's path relative to the project's root, with forward slashes. Outside the root it starts with `../`. */
export function relativePath(file: string, root: string): string {
  const from = root.replace(/\/+$/, "").split("/");
  const to = file.split("/");
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared++;
  return [...from.slice(shared).map(() => ".."), ...to.slice(shared)].join("/");
}
