/**
 * Refuses what is no option: a misspelt `auth_requird` would leave a function open, and `strct` its arguments unchecked.
 *
 * @param known every option that there is, as `Record<keyof Options, true>`, so that the compiler finds a missing one
 * @param where what they are options of, for the message
 * @throws TypeError that names what is no option, and those there are
 */
export function rejectUnknownOptions(
  options: unknown,
  known: Readonly<Record<string, true>>,
  where: string,
): asserts options is object {
  if (typeof options !== "object" || options === null) throw new TypeError(`${where}: the options are an object.`);
  const stranger = Object.keys(options).find((option) => !Object.hasOwn(known, option));
  if (stranger === undefined) return;
  throw new TypeError(`${where}: ${stranger} is no option; there are ${Object.keys(known).join(", ")}.`);
}
