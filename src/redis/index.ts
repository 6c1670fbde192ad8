export { type RedisConnection, openRedisConnection } from "./connection.ts";
export { RedisSubscriber } from "./subscriber.ts";
export { defineScript, runScript, type Script, type ScriptInput } from "./script.ts";
