import { type ComponentChildren, Fragment, isValidElement, toChildArray, type VNode } from "preact";
import { closestName } from "../text/index.ts";
import { isInPlaceholder } from "./layout.ts";
import { type Attributes, type DocumentAttributes, getActiveRender, MarkupError } from "./render-state.ts";

/** The value of an attribute; `null`, `undefined` and `false` leave it out, so that it can depend on a condition. */
type Value = string | null | undefined | false;

/** The attributes of {@link Html} and {@link Body}. */
interface DocumentProps {
  readonly [data: `data-${string}` | `aria-${string}`]: Value;
  readonly class?: Value;
  readonly className?: Value;
  readonly dir?: "ltr" | "rtl" | "auto" | null | undefined | false;
  readonly id?: Value;
  readonly itemscope?: Value;
  readonly itemtype?: Value;
  readonly lang?: Value;
  readonly prefix?: Value;
  readonly role?: Value;
  readonly style?: Value;
  readonly title?: Value;
  readonly translate?: "yes" | "no" | null | undefined | false;
}

const NAMES: readonly (keyof DocumentProps)[] = [
  ...([
    "class",
    "className",
    "dir",
    "id",
    "itemscope",
    "itemtype",
    "lang",
    "prefix",
    "role",
    "style",
    "title",
  ] as const),
  "translate",
];

/** A component of Preact's renderer, with its internal field for its node. */
type This = { readonly __v?: VNode } | undefined;

/**
 * A component that sets attributes of the document's `<html>`: `lang`, `dir`, `class`, `data-*`, `aria-*` and others. It can be
 * used anywhere in the markup of a page or a layout, except in views and in `Head`, and renders nothing in its place.
 *
 * The attributes of the page take precedence over those of its layout, and the last ones of each over earlier ones. Classes
 * are joined. `lang` takes precedence over the option of the page and, in the page or without this option, over that of the
 * application.
 *
 * @throws MarkupError for an unknown attribute, an event handler, a value that is no text, and children
 * @example <Html lang={user.language} dir="rtl" class="dark" data-theme="sea" />
 */
export const Html: (props: DocumentProps) => null = function Html(this: This, props) {
  return record("html", props, this);
};

/**
 * A component that sets attributes of the document's `<body>`, as {@link Html} does for `<html>`.
 *
 * @throws MarkupError for an unknown attribute, an event handler, a value that is no text, and children
 * @example <Body class="admin" data-density="compact" />
 */
export const Body: (props: DocumentProps) => null = function Body(this: This, props) {
  return record("body", props, this);
};

function record(element: "html" | "body", props: DocumentProps, component: This): null {
  const state = getActiveRender();
  if (!state) return null;
  const name = element === "html" ? "Html" : "Body";
  if (state.viewDepth > 0) {
    throw new MarkupError(`<${name}> is used inside a view. Move it into the page, outside the view.`);
  }
  if (state.inHead) throw new MarkupError(`<${name}> is used inside <Head>. Move it out of <Head>, next to it.`);
  if (state.parts.rendered) throw new MarkupError(sentMessage(name));
  const target = state.documentAttributes[element];
  (isInPlaceholder(component?.__v) ? target.page : target.layout).push(readAttributes(name, props));
  return null;
}

function readAttributes(component: string, props: DocumentProps): Attributes {
  const attributes: Record<string, string> = {};
  for (const [prop, value] of Object.entries(props) as [string, unknown][]) {
    checkName(component, prop, value);
    if (value === undefined || value === null || value === false) continue;
    if (typeof value !== "string") {
      throw new MarkupError(
        `<${component}> has the attribute ${prop} of the type ${typeof value}. Pass a text, or null to leave it out.`,
      );
    }
    const name = prop === "className" ? "class" : prop;
    attributes[name] = name === "class" && attributes.class ? `${attributes.class} ${value}` : value;
  }
  return attributes;
}

function checkName(component: string, prop: string, value: unknown): void {
  if (NAMES.some((name) => name === prop) || /^(?:data|aria)-[\w.:-]+$/.test(prop)) return;
  if (prop === "children") {
    if (value === undefined || value === null) return;
    throw new MarkupError(
      `<${component}> has children. It only sets attributes: write <${component} … />, and the markup of the page after it.`,
    );
  }
  if (/^on/i.test(prop)) {
    throw new MarkupError(
      `<${component}> has the event handler ${prop}, which the content security policy forbids. Add it in on_mount of a ` +
        "view, with addEventListener.",
    );
  }
  const similar = closestName(prop, NAMES, 2);
  throw new MarkupError(
    `<${component}> has the unknown attribute ${JSON.stringify(prop.slice(0, 60))}.` +
      `${similar ? ` Did you mean ${similar}?` : ""} Valid attributes: ${NAMES.join(", ")}, data-* and aria-*.`,
  );
}

/**
 * Returns the attributes of an element: those of the page before those of its layout, with all classes.
 *
 * @param defaults the attributes that layouts override, and those that they do not
 */
export function mergeAttributes(
  { layout, page }: DocumentAttributes,
  defaults: { readonly layout: Attributes; readonly page: Attributes },
): Attributes {
  const all = [defaults.layout, ...layout, defaults.page, ...page];
  const attributes: Record<string, string> = Object.assign({}, ...all);
  const classes = all.flatMap((one) => one.class ?? []).join(" ");
  if (classes) attributes.class = [...new Set(classes.split(/\s+/))].filter(Boolean).join(" ");
  return attributes;
}

/**
 * A component that adds its children to the document's `<head>`. It can be used anywhere in the markup of a page, except
 * in views. A `<title>` among the children replaces the document's title; the last one counts.
 *
 * @throws MarkupError inside a view, because the browser does not render the head, and inside another `Head`
 * @example <Head><title>{article.title}</title><meta name="description" content={article.lead} /></Head>
 */
export function Head({ children }: { readonly children?: ComponentChildren }): null {
  const state = getActiveRender();
  if (!state) return null;
  if (state.viewDepth > 0)
    throw new MarkupError("<Head> is used inside a view. Move it into the page, outside the view.");
  if (state.inHead) throw new MarkupError("<Head> is used inside another <Head>. Put its children into the outer one.");
  if (state.parts.rendered) throw new MarkupError(sentMessage("Head"));
  state.head.push(children);
  return null;
}

function sentMessage(component: string): string {
  return `<${component}> is used inside <Later>, after the start of the document was sent. Move it out of <Later>.`;
}

/** Splits the children of all `Head` elements into the text of the title and the other elements. */
export function splitHead(entries: readonly ComponentChildren[]): { title: string | null; rest: ComponentChildren[] } {
  let title: string | null = null;
  const rest: ComponentChildren[] = [];
  for (const child of flatten(entries)) {
    rejectDocumentElement(child);
    if (isValidElement(child) && child.type === "title") title = textOf(child.props.children);
    else rest.push(child);
  }
  return { title, rest };
}

/** @throws MarkupError for an element that is not in `<head>`: its attributes would be ignored */
function rejectDocumentElement(child: ComponentChildren): void {
  if (!isValidElement(child) || (child.type !== "html" && child.type !== "body")) return;
  const component = child.type === "html" ? "Html" : "Body";
  const attributes = Object.keys(child.props).filter((name) => name !== "children");
  throw new MarkupError(
    `<${child.type}> is used inside <Head>, where it has no effect. To set ${attributes[0] ?? "attributes"} of <${child.type}>, ` +
      `write <${component} ${attributes[0] ?? "class"}="…" /> of "tsweb", outside of <Head>.`,
  );
}

function flatten(children: ComponentChildren): ComponentChildren[] {
  return toChildArray(children).flatMap((child) =>
    isValidElement(child) && child.type === Fragment ? flatten(child.props.children) : [child],
  );
}

function textOf(children: ComponentChildren): string {
  return toChildArray(children)
    .map((child) => (isValidElement(child) ? "" : String(child)))
    .join("");
}
