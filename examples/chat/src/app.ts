import { App } from "tsweb";
import { ErrorPage, Layout } from "./layout.server.tsx";
import * as pages from "./pages.server.tsx";
import * as room from "./room.server.ts";
import "./style.css";

let timer: NodeJS.Timeout | undefined;

/** The application. With `strict`, every argument of a call must have the type of its parameter. */
export default new App({
  title: "Lobby",
  layout: Layout,
  error: ErrorPage,
  strict: true,
  modules: [room, pages],
  on_start: () => {
    timer = setInterval(room.stopAbandoned, 10_000);
  },
  on_stop: () => clearInterval(timer),
});
