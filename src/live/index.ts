export { type Bus, openBus } from "../backends/index.ts";
export type { BusState, ObserveOperation } from "./app-bus.ts";
export { APP_BUS, createRealtime, hasSharedBus, type Realtime } from "./app-registry.ts";
export { type ChannelOptions, channel } from "./channel.ts";
export { GapError, type ListenOptions, type LiveMessages, listen } from "./listen.ts";
export { LiveUpdates } from "./live-updates.ts";
export { publish } from "./publish.ts";
export { revocationSource } from "./revocation-source.ts";
export type { LiveConnection } from "./subscription-hub.ts";
