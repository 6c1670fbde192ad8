import { App } from "tsweb";
import * as echo from "./echo.server.ts";
import * as live from "./live.server.ts";
import * as table from "./table.server.tsx";

// The load comes from one address: the rate is counted as ever, but its limit is out of reach.
export default new App({ title: "Bench", modules: [echo, live, table], rate: { calls: 1_000_000_000, seconds: 60 } });
