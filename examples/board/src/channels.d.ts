import "tsweb"; // without this import, the declaration would replace all types of tsweb
import type { BoardChange } from "./board/model.ts";

declare module "tsweb" {
  /** The channels and the types of their messages. */
  interface Channels {
    [name: `board:${string}`]: BoardChange;
  }
}
