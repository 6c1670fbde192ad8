/**
 * Renders forms of server functions without a server, also those that a function has refused.
 */
import type { ComponentChildren } from "preact";
import { RPCError } from "../../src/errors.ts";
import { refusedSubmission, setSubmission } from "../../src/forms/index.ts";
import { run, runInContext } from "../../src/http/index.ts";
import { handlePage } from "../../src/pages/handle-page.ts";
import { type PageOptions, pageOf } from "../../src/pages/page.ts";
import type { PageSettings } from "../../src/pages/render-document.ts";
import { compiledPage } from "./compiled-app.ts";
import { pageSettings } from "./render-page.ts";
import { requestContext, testConfig } from "./request-context.ts";

/** The response in which {@link renderForm} renders its markup. */
export interface FormResponse {
  /** What was typed, by field. */
  readonly typed?: Readonly<Record<string, readonly string[]>>;
  readonly errors?: Readonly<Record<string, string>>;
  readonly key?: string;
  /** The functions of the button and of the form that was sent. */
  readonly name?: string;
  readonly form?: string;
  /** Whether a form was refused. */
  readonly refused?: boolean;
  readonly settings?: Partial<PageSettings>;
  readonly options?: PageOptions;
  readonly csrf?: boolean;
}

/** Renders markup in the response to a form, by default that of `save`, which was refused. */
export async function renderForm(markup: () => ComponentChildren, shown: FormResponse = {}) {
  const { typed = {}, errors = {}, key = "", name = "save", refused = true, settings: more = {}, options = {} } = shown;
  const context = requestContext(undefined, testConfig(shown.csrf ? { WEB_CSRF_SECRET: "6b".repeat(32) } : {}));
  const { settings, logged } = pageSettings(more);
  const fields = new Map(Object.entries(typed));
  const error = new RPCError("validation_error", "Please check the marked fields.", { errors });
  const init = { name, form: shown.form ?? name, key, fields, lists: new Set(["tags"]) };
  if (refused) setSubmission(context, refusedSubmission(init, error));
  const page = pageOf(compiledPage("/", markup as never, options));
  if (!page) throw new Error("no page");
  const { body, status } = await runInContext(context, () => run(handlePage(context, page, {}, settings)));
  const html = String(body);
  const [, data = "null"] = /<script type="application\/json" id="tsweb">(.*?)<\/script>/.exec(html) ?? [];
  return { status, html, body: /<body>(.*)<\/body>/s.exec(html)?.[1] ?? "", data: JSON.parse(data), logged };
}
