import { rows } from "../../../../../app/src/rows.ts";

export const load = () => ({ orders: rows.map(({ id, customer }) => ({ id, customer })) });
