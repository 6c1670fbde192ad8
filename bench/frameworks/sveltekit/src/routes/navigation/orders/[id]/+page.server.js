import { error } from "@sveltejs/kit";
import { rows } from "../../../../../../../app/src/rows.ts";

export function load({ params }) {
  const row = rows.find(({ id }) => String(id) === params.id);
  return { row: row ?? error(404) };
}
