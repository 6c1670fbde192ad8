import { App } from "tsweb";
import { ErrorPage, Layout } from "./layout.server.tsx";
import * as pages from "./pages.server.tsx";
import * as room from "./room.server.ts";
import "./style.css";

/** The application. With `strict`, every argument of a call must have the type of its parameter. */
export default new App({ title: "Lobby", layout: Layout, error: ErrorPage, strict: true, modules: [room, pages] });
