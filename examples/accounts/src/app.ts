import { App } from "tsweb";
import * as accounts from "./accounts.server.ts";
import { Layout, Problem } from "./layout.server.tsx";
import * as pages from "./pages.server.tsx";
import "./style.css";

/** The application: what its modules export is served, nothing else. */
export default new App({ title: "Accounts", layout: Layout, error: Problem, strict: true, modules: [accounts, pages] });
