import { App } from "tsweb";
import * as greetings from "./greetings.server.ts";
import * as pages from "./pages.server.tsx";
import "./style.css";

/** The application. It serves the functions and pages that these modules export, and nothing else. */
export default new App({ title: "my-app", strict: true, modules: [greetings, pages] });
