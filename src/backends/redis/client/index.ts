export { defineScript, infoOf, runScript, type Script, type ScriptInput } from "./commands.ts";
export { isReplyError, type OpenedConnection, openRedisConnection, type RedisConnection } from "./connection.ts";
export { RedisSubscriber } from "./subscriber.ts";
