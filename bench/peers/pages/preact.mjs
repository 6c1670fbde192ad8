// The measured table only, rendered to a string for each request.
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { rows } from "../../app/src/rows.ts";
import { Table } from "../../app/src/table.tsx";
import { servePage } from "./serve-page.mjs";

servePage(() => renderToString(h(Table, { rows })));
