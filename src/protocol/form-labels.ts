/**
 * The names of fields in the summary of a form. Apart from the rest, because the browser loads them only once a form is
 * refused.
 */

/**
 * Returns the id of the message of a field in the summary of a form. The field refers to it by `aria-describedby`,
 * whose ids are separated by spaces: the id has none.
 */
export function fieldErrorId(name: string, key: string, field: string): string {
  return [name, key, field, "error"].filter(Boolean).map(encodeURIComponent).join("-");
}

/** Returns the name of a field for users: `billing_address.zipCode` is `Billing address zip code`. */
export function fieldLabel(field: string): string {
  const words = field
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/[._\s-]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
