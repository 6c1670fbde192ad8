import { App } from "tsweb";
import { PANEL_PATH } from "../../../protocol/index.ts";
import * as pages from "./pages.server.tsx";
import * as panel from "./panel.server.ts";
import "./style.css";

/** The panel of the development server. `npm run build` builds it into the package, and `tsweb dev` serves it. */
export default new App({
  prefetch: false, // its calls would clear what the browser has prefetched of the application
  title: "Development panel",
  base: PANEL_PATH,
  modules: [pages, panel],
  rate: false,
  policy: { "frame-ancestors": "'none'", "img-src": "'none'" },
  headers: { "x-frame-options": "DENY" },
  // The variables of the served application, such as its bus and its origins, do not apply to the panel.
  env: { WEB_ENV: "development" },
});
