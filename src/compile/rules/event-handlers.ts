import { isIntrinsicName, type ModuleFacts, type ModuleResolver, possibleValues } from "../modules/index.ts";
import { CompileError, type Node, nodesOf, type Scope } from "../syntax/index.ts";
import { calledHandlerMessage } from "./called-handlers.ts";
import { serverFunctionOf } from "./form-actions.ts";
import { meantHandler } from "./handler-names.ts";

/** An event handler of an element, as the module shows it. */
interface Handler {
  readonly attribute: string;
  readonly isForm: boolean;
  readonly value: Node;
  readonly scope: Scope;
}

/**
 * Rejects server functions as event handlers of elements in browser code: a handler receives the event, which cannot be sent.
 * The rejected promise would have no location in the application. Rejects functions that are called during the rendering and
 * return nothing, and misspelled names of event handlers: no event would call them.
 *
 * @throws CompileError at the value or the name of the attribute
 */
export async function checkEventHandlers(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (facts.isServerModule) return; // elements outside of views have no event handlers
  for (const { attribute, isForm, value, scope } of handlersIn(facts)) {
    const called = calledHandlerMessage(attribute, value, scope, facts.source);
    if (called !== undefined) throw new CompileError(called, facts.source, value);
    const signature = await serverFunctionOf(value, scope, { facts, resolver });
    if (typeof signature !== "object") continue;
    const written = facts.source.code.slice(value.start, value.end);
    const params = signature.params.map(({ name }) => name).join(", ");
    const call = `${written}(${params})`;
    const fix =
      isForm && attribute === "onSubmit"
        ? `For a form whose fields are its parameters, write action={${written}}. Otherwise write ${attribute}={(event) => { event.preventDefault(); ${call}; }}.`
        : `Write ${attribute}={() => ${call}}.`;
    const message = `The server function ${signature.name} cannot be an event handler: it would receive the event as its argument. ${fix}`;
    throw new CompileError(message, facts.source, value);
  }
}

function handlersIn({ scopes, source }: ModuleFacts): Handler[] {
  const handlers: Handler[] = [];
  for (const { node, scope } of nodesOf(scopes, "JSXOpeningElement")) {
    if (!isIntrinsicName(node.name)) continue;
    const isForm = node.name.type === "JSXIdentifier" && node.name.name === "form";
    for (const attribute of node.attributes) {
      if (attribute.type !== "JSXAttribute" || attribute.name.type !== "JSXIdentifier") continue;
      const { name } = attribute.name;
      if (/^on[A-Z]/.test(name) && !isCustomElement(node.name)) checkName(name, attribute, source);
      if (!/^on[A-Z]/.test(name) || attribute.value?.type !== "JSXExpressionContainer") continue;
      for (const value of possibleValues(attribute.value.expression))
        handlers.push({ attribute: name, isForm, value, scope });
    }
  }
  return handlers;
}

/** Returns whether an element is a custom one, which may dispatch events of any name. */
const isCustomElement = (name: Node) => name.type === "JSXIdentifier" && name.name.includes("-");

function checkName(name: string, attribute: Node, source: ModuleFacts["source"]): void {
  const meant = meantHandler(name);
  if (meant !== undefined)
    throw new CompileError(`Elements have no event handler ${name}. Write ${meant}.`, source, attribute);
}
