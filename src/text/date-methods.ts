const CALL =
  /(?<![\w$.])(?<value>[\w$]+(?:\.[\w$]+)*)\.(?<method>get(?:UTC)?(?:Date|Day|FullYear|Hours|Milliseconds|Minutes|Month|Seconds)|getTime|getTimezoneOffset|to(?:Locale)?(?:Date|Time)String|toISOString|toUTCString) is not a function\b/;

/**
 * Returns how to read a date that has arrived as a string, if an error is the call of a method that only dates have:
 * "at.getTime is not a function". Otherwise an empty string.
 */
export function dateMethodAdvice({ name, message }: { readonly name?: string; readonly message: string }): string {
  const { value, method } = (name === "TypeError" && CALL.exec(message)?.groups) || {};
  if (value === undefined || method === undefined) return "";
  return (
    `If \`${value}\` is a date, it has arrived as a string, because props, arguments, results and messages are sent as ` +
    `JSON. Write \`new Date(${value}).${method}()\`.`
  );
}
