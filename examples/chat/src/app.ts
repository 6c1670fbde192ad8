import { App } from "tsweb";
import { Layout, Problem } from "./layout.server.tsx";
import * as pages from "./pages.server.tsx";
import * as room from "./room.server.ts";
import "./style.css";

/** The application. Strict: every argument of a call is held to the type of its parameter. */
export default new App({ title: "Lobby", layout: Layout, error: Problem, strict: true, modules: [room, pages] });
