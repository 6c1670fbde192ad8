/** The state of a component after an edit of its module, in development. */
import type { Component } from "preact";

/** The calls of a component that keep a value: {@link slot} in slot.ts. */
export interface Slots {
  readonly slots: readonly unknown[];
  /** The names of the functions that have created them: `state`, `form`, `on_mount` or `on_unmount`. */
  readonly callers: readonly string[];
}

/** A component with the fields of slot.ts, and the slots from before an edit. */
interface EditedComponent extends Component {
  slots?: unknown[];
  callers?: string[];
  beforeEdit?: Slots | undefined;
}

/** The fields of a state as they were passed to `state`, each as a text that is the same for equal values. */
const initialFields = new WeakMap<object, ReadonlyMap<string, string>>();

/** Records what was passed to `state`, before the component changes it. */
export function recordInitialState(state: object, initial: object): void {
  const fields = Object.entries(Object.getOwnPropertyDescriptors(initial));
  initialFields.set(state, new Map(fields.map(([key, property]) => [key, describeProperty(property, [])])));
}

/** Sets the slots of a component aside, because its function was edited: the next rendering creates new ones. */
export function startEdit(component: EditedComponent): void {
  // After an edit with an error, the slots are those from before it.
  component.beforeEdit ??= { slots: component.slots ?? [], callers: component.callers ?? [] };
  component.slots = [];
  component.callers = [];
}

/**
 * Restores the states and forms of a component after the first rendering of its new function, and renders it again with
 * them. New fields get their initial values, and so do fields whose initial value the edit has changed. Fields that were
 * removed from the call are deleted.
 *
 * All states are new if the number or the order of the calls of `state` and `form` has changed.
 */
export function finishEdit(component: EditedComponent): void {
  const { beforeEdit, slots = [], callers = [] } = component;
  if (!beforeEdit) return;
  component.beforeEdit = undefined;
  const kept = valuesOf(beforeEdit);
  const created = valuesOf({ slots, callers });
  if (created.length === 0 || !isSameOrder(kept, created)) return;
  created.forEach(({ index, value, caller }, at) => {
    const previous = kept[at]?.value as object; // it has the same length
    slots[index] = previous;
    if (caller === "state") mergeState(previous, value);
  });
  component.forceUpdate();
}

/** A state or a form. */
interface KeptValue {
  readonly index: number;
  readonly caller: string;
  readonly value: object;
}

function valuesOf({ slots, callers }: Slots): KeptValue[] {
  return slots.flatMap((value, index) => {
    const caller = callers[index] ?? "";
    return caller === "state" || caller === "form" ? [{ index, caller, value: value as object }] : []; // both are objects
  });
}

function isSameOrder(kept: readonly KeptValue[], created: readonly KeptValue[]): boolean {
  const before = kept.map(identityOf);
  const after = created.map(identityOf);
  if (kept.some(({ caller }, at) => caller !== created[at]?.caller) || kept.length !== created.length) return false;
  return created.every(({ caller }, at) => {
    if (before[at] === after[at]) return true;
    // The fields of a state may change, unless it now has those of another state: then the calls have changed places.
    return caller === "state" && isObject(kept[at]) && isObject(created[at]) && !before.includes(after[at] ?? "");
  });
}

/** Returns what makes a state or a form different from the others of the component: its fields, or its function and key. */
function identityOf({ caller, value }: KeptValue): string {
  if (caller === "form") {
    const { fn, key } = value as { readonly fn: { readonly id?: string }; readonly key: string }; // FormState in form.ts
    return `form ${fn.id} ${key}`;
  }
  const fields = initialFields.get(value) ?? new Map();
  return Array.isArray(value) ? `array ${[...fields.values()]}` : `state ${[...fields.keys()].toSorted()}`;
}

function isObject(kept: KeptValue | undefined): boolean {
  return !Array.isArray(kept?.value);
}

/** Changes a state as an edit has changed the call that created it. */
function mergeState(kept: object, created: object): void {
  const before = initialFields.get(kept) ?? new Map<string, string>();
  const after = initialFields.get(created) ?? new Map<string, string>();
  for (const key of before.keys()) if (!after.has(key)) Reflect.deleteProperty(kept, key);
  for (const [key, field] of after) {
    const property = Object.getOwnPropertyDescriptor(created, key);
    if (property && before.get(key) !== field) Reflect.defineProperty(kept, key, property);
  }
  initialFields.set(kept, after);
}

function describeProperty({ value, get }: PropertyDescriptor, around: readonly object[]): string {
  return get ? `get ${get}` : describeValue(value, around);
}

/** Returns a text that is the same for equal values. Instances of classes are equal to each other. */
function describeValue(value: unknown, around: readonly object[]): string {
  if (typeof value !== "object" || value === null) return `${typeof value} ${String(value)}`;
  if (value instanceof Date) return `date ${value.getTime()}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (around.includes(value) || (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null)) {
    return "object";
  }
  const fields = Object.entries(Object.getOwnPropertyDescriptors(value));
  return JSON.stringify(fields.map(([key, property]) => [key, describeProperty(property, [...around, value])]));
}
