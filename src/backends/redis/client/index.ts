export {
  defineScript,
  infoOf,
  type OpenedConnection,
  openRedisConnection,
  runScript,
  type Script,
  type ScriptInput,
} from "./connection.ts";
export { isReplyError, type RedisConnection } from "./lazy-client.ts";
export { RedisSubscriber } from "./subscriber.ts";
