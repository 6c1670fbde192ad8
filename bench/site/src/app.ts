import { App } from "tsweb";
import * as board from "./board.server.ts";
import * as navigation from "./navigation.server.tsx";

export default new App({
  title: "Bench",
  modules: [board, navigation],
  rate: { calls: 1_000_000_000, seconds: 60 }, // all load comes from one address
});
