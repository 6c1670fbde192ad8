export { consoleLog, jsonLog, type Log } from "./log.ts";
