import { renderToString } from "solid-js/web";
import { rows } from "../../app/src/rows.ts";
import { servePage } from "../../peers/pages/serve-page.mjs";
import { Table } from "./table.jsx";

servePage(() => renderToString(() => <Table rows={rows} />));
