export { isReplyError } from "./command-error.ts";
export { openRedisConnection, type RedisConnection } from "./connection.ts";
export { defineScript, infoOf, runScript, type Script, type ScriptInput } from "./script.ts";
export { RedisSubscriber } from "./subscriber.ts";
