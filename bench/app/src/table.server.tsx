import { page } from "tsweb";
import { Counter } from "./counter.tsx";
import { rows } from "./rows.ts";
import { Table } from "./table.tsx";

export const table = page("/table", { title: "Table" }, () => (
  <main>
    <h1>Orders</h1>
    <Counter />
    <Table rows={rows} />
  </main>
));
