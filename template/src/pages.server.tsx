import { page } from "tsweb";
import { Greeter } from "./greeter.tsx";

/** The page at `/`. */
export const home = page("/", () => (
  <main>
    <h1>my-app</h1>
    <Greeter />
    <p>
      This page is in <code>src/pages.server.tsx</code>.
    </p>
  </main>
));
