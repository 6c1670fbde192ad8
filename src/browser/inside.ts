/**
 * Calls a hook, and says what is wrong when there is no component being rendered.
 *
 * @throws Error that names the caller, outside of rendering
 */
export function inside<T>(caller: string, hook: () => T): T {
  try {
    return hook();
  } catch (cause) {
    throw new Error(
      `${caller}() belongs inside a view: at module level on the server it would be shared by every visitor`,
      { cause },
    );
  }
}
