/**
 * The script of an error page. It reloads the page if the files are not in the version of its request. No module of such a
 * page is loaded, so there is none to watch.
 */
import { EDITS_PATH } from "../../../protocol/index.ts";
import { reloadWithGet } from "./reload-with-get.ts";

const CHECK_INTERVAL_MS = 200;

async function readVersion(): Promise<string> {
  try {
    return await (await fetch(EDITS_PATH, { cache: "no-store" })).text();
  } catch {
    return "the server is unreachable";
  }
}

async function check(): Promise<void> {
  if (!document.hidden && (await readVersion()) !== document.documentElement.dataset.edits) reloadWithGet();
  else setTimeout(check, CHECK_INTERVAL_MS);
}

void check();
