import { rows } from "../../../../../app/src/rows.ts";

export const load = () => ({ rows });
